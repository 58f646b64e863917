-- What happened to live mail, added up by quarters of an hour, which the hours and days of every time zone consist of. It outlives the
-- emails. `scope` says of which emails: '' of all of the workspace, else `dom_… cmp_… tpl_… #name:value`, as many of the four as are
-- asked for, in that order; an email counts in each scope that it belongs to. Every count is of recipients.
--
-- Columns without an ending go by the time of the event, `…_of_accepted` by the time at which its email was accepted; `reached_…` are the
-- recipients of what was accepted then for whom it happened at least once. What programs opened or clicked is apart (`machine_…`).
create table analytics (
  workspace_id text collate "C" not null references workspaces (id),
  scope text collate "C" not null,
  quarter timestamptz not null,
  accepted integer not null,
  sent integer not null,
  delivered integer not null,
  opened integer not null,
  clicked integer not null,
  bounced integer not null,
  complained integer not null,
  unsubscribed integer not null,
  machine_opened integer not null,
  machine_clicked integer not null,
  sent_of_accepted integer not null,
  delivered_of_accepted integer not null,
  opened_of_accepted integer not null,
  clicked_of_accepted integer not null,
  bounced_of_accepted integer not null,
  complained_of_accepted integer not null,
  unsubscribed_of_accepted integer not null,
  machine_opened_of_accepted integer not null,
  machine_clicked_of_accepted integer not null,
  reached_delivered integer not null,
  reached_opened integer not null,
  reached_clicked integer not null,
  reached_bounced integer not null,
  primary key (workspace_id, scope, quarter)
);

-- How far the emails (by the position of their acceptance) and the event log of each workspace have been added up.
create table analytics_cursors (
  workspace_id text collate "C" primary key references workspaces (id),
  accepted bigint not null,
  events bigint not null
);

-- The tags that are counted: a tag that every order has anew would make rows without end.
create table analytics_tags (
  workspace_id text collate "C" not null references workspaces (id),
  tag text collate "C" not null,
  primary key (workspace_id, tag)
);
