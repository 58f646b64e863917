-- Ids sort by creation time byte by byte, so every id column compares with collation "C".

create table workspaces (
  id text collate "C" primary key,
  name text not null,
  plan text not null check (plan in ('free', 'starter', 'growth')),
  settings json not null default '{}',
  created_at timestamptz not null
);

-- Actors: the snapshot (state, context), its revision, its pending timers and the earliest of them (wake_at).

create table api_keys (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  livemode boolean not null,
  state text not null check (state in ('active', 'revoked')),
  context json not null,
  revision integer not null,
  machine_version smallint not null,
  timers json,
  wake_at timestamptz,
  name text not null,
  prefix text not null,
  hash text collate "C" not null unique,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_by_workspace on api_keys (workspace_id, id desc);

create table emails (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  state text not null check (
    state in ('scheduled', 'queued', 'sending', 'deferred', 'sent', 'delivered', 'failed', 'cancelled')
  ),
  context json not null,
  revision integer not null,
  machine_version smallint not null,
  timers json,
  wake_at timestamptz,
  recipients text[] not null,
  recipient_keys text[] not null,
  last_event text,
  failure_reason text,
  scheduled_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz
);
-- What the clock reads. An email in flight is in it, a finished one is not.
create index emails_by_wake_at on emails (wake_at) where wake_at is not null;
-- The rare states only: an index entry for every delivered email would be paid on every life.
create index emails_by_rare_state on emails (workspace_id, livemode, state, id desc)
  where state in ('scheduled', 'deferred', 'failed', 'cancelled');

-- What was asked for: written once, never rewritten by a transition. Partitioned by the time inside the id, so that
-- retention drops a day at once (src/db/partitions.ts); the default partition catches what no partition awaits.
create table email_messages (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  sender_key text not null,
  subject text not null,
  tags text[] not null,
  domain_id text collate "C",
  template_id text collate "C",
  campaign_id text collate "C",
  envelope json not null,
  content json not null,
  primary key (id)
) partition by range (id);
create table email_messages_default partition of email_messages default;
create index email_messages_by_workspace on email_messages (workspace_id, livemode, id desc);

-- Sealed under SECRET_KEY at the first start: a start with another key fails to open it, and goes no further.
create table secret_key_canary (
  one boolean primary key default true check (one),
  sealed text not null
);

-- What positions in the event log count from. They are transaction ids, and a restored dump lives in a cluster that counts
-- its own: `cluster` tells that it is another one, and `base` goes up then (src/modules/events/commands.ts).
create table event_log (
  one boolean primary key default true check (one),
  base bigint not null,
  cluster text
);
insert into event_log (base) values (0);
create function event_position() returns bigint language sql stable
  return (select l.base from event_log l where l.one) + pg_current_xact_id()::text::bigint;

-- The event log. Commits do not finish in the order of their ids: `position` (the transaction) orders the gap-free log.
create table email_events (
  email_id text collate "C" not null,
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  type text not null check (
    type in ('sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed')
  ),
  recipient text not null,
  occurred_at timestamptz not null,
  data json not null,
  position bigint not null default event_position(),
  primary key (email_id, id)
) partition by range (email_id);
create table email_events_default partition of email_events default;
create index email_events_by_position on email_events (workspace_id, livemode, position, id);

-- The history an actor's life is drawn from: one row a write, with the transitions it took. No personal data. The tag
-- names the commit: when its reply was lost, it is found here.
create table email_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
) partition by range (actor_id);
create table email_journal_default partition of email_journal default;

create table api_key_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

-- Events from actor to actor: written in the sender's commit, deleted in the receiver's.
create table actor_outbox (
  id text collate "C" primary key,
  to_kind text not null,
  to_id text collate "C" not null,
  event json not null
);

-- One row a workspace, environment and period ('2026-11' live, '2026-11-20' test). `wanted`, `granted` and `ceiling`
-- are what the last batch asked for, got, and was limited to: the statement that takes the units reads them back.
create table usage (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  period text collate "C" not null,
  used integer not null check (used >= 0),
  wanted integer not null,
  granted integer not null,
  ceiling integer not null,
  primary key (workspace_id, livemode, period)
) with (fillfactor = 50);

-- Written in the statement that performs the action. `reply` is the stored body, sealed where it holds a secret. A call that
-- asks for several things has a row for each: `item` numbers them, and -1 stands for the call itself.
create table idempotency_keys (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  key text collate "C" not null,
  fingerprint text not null,
  status smallint not null,
  reply text not null,
  created_at timestamptz not null,
  item smallint not null default -1,
  primary key (workspace_id, livemode, key, item)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Addresses that get no more live mail of a workspace.
create table suppressions (
  workspace_id text collate "C" not null,
  address_key text collate "C" not null,
  address text not null,
  reason text not null check (reason in ('bounced', 'complained', 'unsubscribed', 'manual')),
  email_id text collate "C",
  created_at timestamptz not null,
  primary key (workspace_id, address_key)
);
