-- Actors: files of contacts that are worked through.
create table contact_imports (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  livemode boolean not null,
  state text not null check (state in ('queued', 'checking', 'processing', 'completed', 'failed', 'cancelled')),
  context json not null,
  revision integer not null,
  machine_version smallint not null,
  timers json,
  wake_at timestamptz,
  settings json not null,
  merges boolean not null,
  audience_id text collate "C",
  trigger_flows boolean not null
);
create index contact_imports_by_workspace on contact_imports (workspace_id, livemode, id desc);
create index contact_imports_open on contact_imports (workspace_id, livemode)
  where state in ('queued', 'checking', 'processing');
create index contact_imports_by_wake_at on contact_imports (wake_at) where wake_at is not null;

create table contact_import_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

-- The file, in pieces of one length, until its import has ended. Bytes that live for a minute are not worth compressing.
create table contact_import_chunks (
  import_id text collate "C" not null,
  n integer not null,
  content bytea not null,
  primary key (import_id, n)
);
alter table contact_import_chunks alter column content set storage external;

-- Written in the commit of the rows that are counted. `first_faults` are the first hundred.
create table contact_import_counts (
  import_id text collate "C" primary key,
  total integer not null,
  created integer not null,
  updated integer not null,
  skipped integer not null,
  failed integer not null,
  first_faults jsonb not null
);

-- A row for all that were refused in one commit: [line, column or null, code], by the place in the file at which it begins.
create table contact_import_faults (
  import_id text collate "C" not null,
  from_offset bigint not null,
  faults json not null,
  primary key (import_id, from_offset)
);

-- Keyed hashes of the addresses that a dry run has met and that are no contacts: the second of two would update the first.
create table contact_import_seen (
  import_id text collate "C" not null,
  address_hash text collate "C" not null,
  primary key (import_id, address_hash)
);

-- Ends a statement as PostgreSQL ends one that lost a race, so that it is repeated: somebody else has added an address that it
-- meant to add.
create function contact_import_raced() returns integer language plpgsql as $$ begin
  raise exception 'an address was added meanwhile' using errcode = '40001';
end $$;
