-- Automations: what happens to a contact, step by step, and every run of it.

-- A flow. `version` is what was written last, `published_version` what new runs begin with. What begins a run lies beside it, so
-- that whoever follows the log need not read definitions: `listens_to` is the id of an audience or the name of an event, and only
-- what stands behind `since_position` in the log counts. `cancels_before`: runs that began before it are to be ended.
create table flows (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  id text collate "C" not null,
  name text not null,
  status text not null check (status in ('draft', 'active', 'paused')),
  is_held boolean not null default false,
  version integer not null,
  published_version integer,
  trigger_type text,
  listens_to text,
  since_position bigint not null default 0,
  scanned_to timestamptz,
  cancels_before timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, livemode, id)
);
create unique index flows_by_id on flows (id);
create index flows_listening on flows (workspace_id, livemode, trigger_type) where status = 'active' and deleted_at is null;
create index flows_ending on flows (id) where cancels_before is not null or deleted_at is not null;

-- A version never changes once it was published: runs stay with the one that they began with.
create table flow_versions (
  flow_id text collate "C" not null,
  version integer not null,
  definition json not null,
  created_at timestamptz not null,
  published_at timestamptz,
  primary key (flow_id, version)
);

-- Actors: the way of one contact through one version. `step` is where a run stands, `awaits` the event that it waits for.
create table flow_runs (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  livemode boolean not null,
  state text not null,
  context json not null,
  revision integer not null,
  machine_version smallint not null,
  timers json,
  wake_at timestamptz,
  definition_id text collate "C",
  status text not null check (status in ('running', 'waiting', 'completed', 'exited', 'failed', 'cancelled')),
  step text,
  awaits text,
  ended_at timestamptz,
  started_at timestamptz not null,
  flow_id text collate "C" not null,
  flow_version integer not null,
  contact_id text collate "C" not null,
  occurrence_key text collate "C" not null,
  is_watched boolean not null
);
-- One occurrence begins one run, however often it is told; and a contact has one open run of a flow.
create unique index flow_runs_by_occurrence on flow_runs (flow_id, occurrence_key);
create unique index flow_runs_open on flow_runs (flow_id, contact_id) where ended_at is null;
create index flow_runs_by_flow on flow_runs (flow_id, id desc);
create index flow_runs_by_contact on flow_runs (contact_id, id desc);
create index flow_runs_by_workspace on flow_runs (workspace_id, livemode, id desc);
create index flow_runs_awaiting on flow_runs (contact_id, awaits) where awaits is not null;
create index flow_runs_watched on flow_runs (contact_id) where is_watched and ended_at is null;
create index flow_runs_held on flow_runs (flow_id, id) where state = 'held';
create index flow_runs_under_way on flow_runs (flow_id, id) where ended_at is null;
create index flow_runs_by_wake_at on flow_runs (wake_at) where wake_at is not null;

create table flow_run_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

-- What each step came to. The counts of a flow's steps are counts of these rows.
create table flow_run_log (
  run_id text collate "C" not null,
  visit integer not null,
  flow_id text collate "C" not null,
  step text not null,
  at timestamptz not null,
  outcome text not null,
  email_id text collate "C",
  primary key (run_id, visit)
);
create index flow_run_log_by_step on flow_run_log (flow_id, step, outcome);

-- Who has ever begun a flow, over all its versions and longer than its runs are kept.
create table flow_entrants (
  flow_id text collate "C" not null,
  contact_id text collate "C" not null,
  primary key (flow_id, contact_id)
);

-- The key that webhook steps are signed with, sealed.
create table flow_webhook_secrets (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  sealed text not null,
  created_at timestamptz not null,
  primary key (workspace_id, livemode)
);

-- How far flows have followed what contacts do, and which instance does so at the moment.
create table flow_feed (
  one boolean primary key default true check (one),
  position bigint not null default 0,
  id text collate "C" not null default '',
  follower text,
  followed_until timestamptz
);
insert into flow_feed default values;
