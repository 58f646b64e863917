-- What the version of each instance is, and since when it runs. Null for a version that does not say so.
alter table service_instances add column version text collate "C", add column started_at timestamptz;

-- The environments that somebody looks at through an instance, as long as it says so, and what the others tell it. Neither is worth
-- anything a minute later, so that a crash of the database may take both, and no standby and no archive has to carry them.
create unlogged table live_watches (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  instance_id text collate "C" not null,
  since timestamptz not null,
  until timestamptz not null,
  primary key (workspace_id, livemode, instance_id)
) with (fillfactor = 50);

create unlogged table live_news (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  instance_id text collate "C" not null,
  number integer not null,
  at timestamptz not null,
  news json not null,
  primary key (workspace_id, livemode, instance_id, number)
);
