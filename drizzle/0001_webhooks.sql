-- Actors: where events are sent to. Those that are deleted stay until their deliveries are gone.
create table webhook_endpoints (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  livemode boolean not null,
  state text not null check (state in ('active', 'disabled', 'deleted')),
  context json not null,
  revision integer not null,
  machine_version smallint not null,
  timers json,
  wake_at timestamptz,
  events text[] not null
);
-- What a commit of email events reads: a probe that finds nothing where there are no endpoints.
create index webhook_endpoints_by_workspace on webhook_endpoints (workspace_id, livemode, id desc)
  where state <> 'deleted';

-- Sealed. Apart from the endpoint, so that a rotation is one row and a snapshot holds no secret.
create table webhook_secrets (
  webhook_id text collate "C" primary key,
  sealed text not null,
  prefix text not null
);

-- Actors: one event on its way to one endpoint. `event` only where the event is in no log (a test).
create table webhook_deliveries (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  state text not null check (state in ('queued', 'posting', 'scheduled', 'success', 'failed')),
  context json not null,
  revision integer not null,
  machine_version smallint not null,
  timers json,
  wake_at timestamptz,
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  email_id text collate "C" not null,
  event json
);
create index webhook_deliveries_by_endpoint on webhook_deliveries (webhook_id, id desc);
-- What the clock reads, and what finds the deliveries that stop with their endpoint.
create index webhook_deliveries_by_wake_at on webhook_deliveries (wake_at, webhook_id) where wake_at is not null;

-- What became of each attempt that had an outcome; written once.
create table webhook_attempts (
  delivery_id text collate "C" not null,
  attempt integer not null,
  attempted_at timestamptz not null,
  http_status smallint not null,
  response_body text not null,
  duration_ms integer not null,
  error text,
  primary key (delivery_id, attempt)
);

create table webhook_endpoint_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

create table webhook_delivery_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);
