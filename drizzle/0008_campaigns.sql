-- Actors: one message to everybody in an audience. `attempt` is the number of the latest turn of work: what a turn that was given up
-- still tries to give out is withheld by it.
create table campaigns (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  livemode boolean not null,
  state text not null check (
    state in ('draft', 'scheduled', 'preparing', 'sending', 'paused', 'sent', 'cancelled', 'failed', 'deleted')
  ),
  context json not null,
  revision integer not null,
  machine_version smallint not null,
  timers json,
  wake_at timestamptz,
  attempt integer not null
);
create index campaigns_by_workspace on campaigns (workspace_id, livemode, id desc) where state <> 'deleted';
create index campaigns_by_wake_at on campaigns (wake_at) where wake_at is not null;

create table campaign_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

-- What its author has set, apart from the actor, whose own row is written once in a commit.
create table campaign_settings (
  campaign_id text collate "C" primary key,
  name text not null,
  audience_id text collate "C" not null,
  template_id text collate "C",
  settings json not null,
  updated_at timestamptz not null
);
create index campaign_settings_by_template on campaign_settings (template_id) where template_id is not null;

-- What it says, once for all recipients, as it was when it started: their emails are made of it when they leave or are read. What
-- statements ask of it for each email or click stands apart, or each would read the whole document, of 256 KiB and more, for it.
-- `audience_id` is the audience that one can leave, null where a filter chooses.
create table campaign_contents (
  campaign_id text collate "C" primary key,
  content json not null,
  audience_id text collate "C",
  links json not null
);
do $$
begin
  alter table campaign_contents alter column content set compression lz4;
exception when feature_not_supported then
  null;
end $$;

-- Everybody in the audience when it started, those who were left out included. `address_hash` is the MD5 of the form that addresses are
-- compared by: nobody gets it twice, and an email finds its recipient by it; null for a forgotten person. `sent` begins with the
-- acceptance of the email, in the same statement. Nothing but the hash and the key is indexed, so that an update that finds room
-- in its page leaves both indexes alone.
create table campaign_recipients (
  campaign_id text collate "C" not null,
  contact_id text collate "C" not null,
  address_hash uuid,
  state text not null check (state in ('waiting', 'sent', 'failed', 'skipped')),
  reason text,
  email_id text collate "C",
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  complained_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (campaign_id, contact_id)
) with (fillfactor = 50);
create unique index campaign_recipients_by_address on campaign_recipients (campaign_id, address_hash);

-- What was counted, a row for each commit that had something to count, added up into fewer by a duty: nobody waits for a row. The
-- first five always satisfy total = remaining + sent + skipped + failed. `next_at` is when the next email may be given out
-- where a rate is set.
create table campaign_tallies (
  campaign_id text collate "C" not null,
  total integer not null default 0,
  remaining integer not null default 0,
  sent integer not null default 0,
  skipped integer not null default 0,
  failed integer not null default 0,
  delivered integer not null default 0,
  opens integer not null default 0,
  unique_opens integer not null default 0,
  machine_opens integer not null default 0,
  clicks integer not null default 0,
  unique_clicks integer not null default 0,
  machine_clicks integer not null default 0,
  bounced_permanent integer not null default 0,
  bounced_transient integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0,
  next_at timestamptz
);
create index campaign_tallies_by_campaign on campaign_tallies (campaign_id);

-- Clicks by people on each link, as its author wrote it, and by whom.
create table campaign_clicks (
  campaign_id text collate "C" not null,
  link integer not null,
  contact_id text collate "C" not null,
  clicks integer not null,
  primary key (campaign_id, link, contact_id)
);
