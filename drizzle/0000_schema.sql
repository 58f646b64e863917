-- The whole schema. Every id column compares with collation "C", so that ids sort by creation time byte by byte.
--
-- A table of actors begins with the same nine columns: the snapshot (state and context), its revision, its pending timers and
-- the earliest of them (wake_at). Each kind of actor has a journal beside its table: one row a write, with the transitions it
-- took, without personal data. `commit_tag` names the commit, which is found by it when the commit's reply was lost.
--
-- Emails are stored otherwise: nothing of them is rewritten (see there).


-- Workspaces and access ------------------------------------------------------------------------------------------------------

-- What a workspace says of itself is null where nothing has been set. `muted_emails` are the kinds of emails of the service itself that
-- it does not want. `logo` is the file name of its
-- present logo. The keys of an archived one open nothing; one with `erase_at` is gone for everybody, and its rows
-- are being removed.
create table workspaces (
  id text collate "C" primary key,
  name text not null,
  plan text not null check (plan in ('free', 'starter', 'growth', 'unlimited')),
  default_from text,
  default_reply_to text,
  logo text,
  colour text,
  address text,
  website text,
  time_zone text not null default 'UTC',
  muted_emails text[] not null default '{}',
  created_at timestamptz not null,
  archived_at timestamptz,
  erase_at timestamptz
);

-- Actors: who may authenticate.
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

create table api_key_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

-- Tokens that let somebody in once, such as a printed link. Only their hashes are kept.
create table one_time_tokens (
  hash text collate "C" primary key,
  purpose text not null,
  subject json not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index one_time_tokens_by_end on one_time_tokens (expires_at);

-- A text sealed under SECRET_KEY at the first start: a start with another key fails to open it, and goes no further.
create table secret_key_canary (
  one boolean primary key default true check (one),
  sealed text not null
);


-- Usage ----------------------------------------------------------------------------------------------------------------------

-- One row a workspace, environment and period ('2026-11' live, '2026-11-20' test). `wanted`, `granted` and `quota` are what
-- the last batch asked for, got, and was limited to: the statement that takes the units reads them back. `used` may be
-- negative for a while, since a unit may come back before the entry that took it has been added up.
create table usage (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  period text collate "C" not null,
  used integer not null,
  wanted integer not null,
  granted integer not null,
  quota integer not null,
  primary key (workspace_id, livemode, period)
) with (fillfactor = 50);

-- Units that no quota holds back: a row a batch, never updated, added up into `usage` every ten seconds. One row that every
-- batch updated was found through all its dead versions as long as somebody held an old transaction: of ten minutes of lives
-- the last one ran at 0.76 of the first; and each batch waited for the one before.
create table usage_entries (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  period text collate "C" not null,
  units integer not null
);

create view usage_totals as
select workspace_id, livemode, period, sum(used)::integer as used
from (
  select workspace_id, livemode, period, used from usage
  union all select workspace_id, livemode, period, units from usage_entries
) parts
group by workspace_id, livemode, period;


-- Emails ---------------------------------------------------------------------------------------------------------------------

-- An email is one row when it is accepted, one more row for each thing that happens to it, and a row in `email_due` while it
-- waits for the clock. Nothing of it is ever rewritten but that last row. Both tables are partitioned by the time inside the id,
-- so that retention drops a day at once (src/db/partitions.ts); the default partitions catch what no partition awaits.

-- What was asked for, and the state that the email began in: its first revision. `position` orders the acceptance of live mail as that of
-- a turn orders events; it is null for test mail.
create table emails (
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  state text not null check (
    state in ('scheduled', 'queued', 'sending', 'deferred', 'sent', 'delivered', 'failed', 'cancelled')
  ),
  context json not null,
  timers json,
  machine_version smallint not null,
  commit_tag integer not null,
  steps json not null,
  at timestamptz not null,
  scheduled_at timestamptz,
  recipients text[] not null,
  recipient_keys text[] not null,
  sender_key text not null,
  subject text not null,
  tags text[] not null,
  domain_id text collate "C",
  template_id text collate "C",
  campaign_id text collate "C",
  envelope json not null,
  -- The instance that carries out the first order at once; null where the email was born to wait for the clock.
  kept_by integer,
  -- JSON that the service has compressed with zstd (src/modules/emails/accept/packed-content.ts).
  content bytea not null,
  position bigint,
  primary key (id)
) partition by range (id);
-- Ascending: of new entries at the end of a workspace's own PostgreSQL fills its pages, of new ones at the beginning it halves them.
create index emails_by_workspace on emails (workspace_id, livemode, id);
-- Analytics read from it what was accepted since they last did.
create index emails_by_position on emails (workspace_id, position) where position is not null;
-- Contents come compressed, so the server need not try it again: of 15 kB of HTML it spent 337 µs on that with pglz, and 61 with
-- lz4. Partitions take the setting from their parent when they are made, so the default partition comes after it.
alter table emails alter column content set storage external;
create table emails_default partition of emails default;

-- What happened to an email, a row for each write: the snapshot that it led to (of the context only what can change), the steps that it took, the events that it
-- recorded and the outcomes that leave no event. The key is the check of the revision: of two writes of one revision one is
-- refused. `position` places the events in the event log; it is null where there are none.
create table email_turns (
  email_id text collate "C" not null,
  revision integer not null,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  state text not null check (
    state in ('scheduled', 'queued', 'sending', 'deferred', 'sent', 'delivered', 'failed', 'cancelled')
  ),
  context json not null,
  timers json,
  machine_version smallint not null,
  commit_tag integer not null,
  steps json not null,
  at timestamptz not null,
  last_event text,
  failure_reason text,
  scheduled_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  recorded json,
  noted json,
  position bigint,
  primary key (email_id, revision)
) partition by range (email_id);
create table email_turns_default partition of email_turns default;
-- Without the email: all turns of a commit have one key then, which the index holds once.
create index email_turns_by_position on email_turns (workspace_id, livemode, position) where position is not null;
-- Only rare ends are indexed: an entry for every delivered email would be paid on every life. An email in one of these states
-- has no later turn.
create index email_turns_by_rare_state on email_turns (workspace_id, livemode, state, email_id desc)
  where state in ('failed', 'cancelled');

-- The emails that wait for the clock, and the state they wait in.
create table email_due (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  livemode boolean not null,
  state text not null,
  wake_at timestamptz not null
);
-- The scheduler reads this one.
create index email_due_by_wake_at on email_due (wake_at);
create index email_due_by_state on email_due (workspace_id, livemode, state, id desc)
  where state in ('scheduled', 'deferred');

-- The instances of the service that keep births, which then have no row in `email_due`: each with a heartbeat, and the id below which
-- every birth that it keeps has had a turn. Whoever finds one gone closes it, and leaves its births without a turn to the clock. `open`
-- is part of the key, so that closing waits for statements that have locked the row as a foreign key would.
create table instances (
  id integer not null,
  kind text not null,
  open boolean not null,
  heartbeat_at timestamptz not null,
  low_water text collate "C" not null,
  primary key (id, open)
) with (fillfactor = 50);

-- Each email as it is now: what it began as, or the snapshot of its latest turn. `wake_at` is null where nothing is awaited.
create view emails_now as
select b.id, b.workspace_id, b.livemode,
  coalesce(t.state, b.state) as state,
  case when t.context is null then b.context else (b.context::jsonb || t.context::jsonb)::json end as context,
  coalesce(t.revision, 1) as revision,
  coalesce(t.machine_version, b.machine_version) as machine_version,
  case when t.revision is null then b.timers else t.timers end as timers,
  coalesce(t.at, b.at) as at,
  d.wake_at, case when t.revision is null then b.kept_by end as kept_by, b.recipients, b.recipient_keys, b.subject, b.tags, b.domain_id, b.template_id, b.campaign_id,
  t.last_event, t.failure_reason,
  case when t.revision is null then b.scheduled_at else t.scheduled_at end as scheduled_at,
  t.sent_at, t.delivered_at
from emails b
left join lateral (
  select * from email_turns l where l.email_id = b.id order by l.revision desc limit 1
) t on true
left join email_due d on d.id = b.id;

-- The steps of a write, which are stored without names, each as an object.
create function life_steps(packed json) returns json language sql immutable
  return (
    select coalesce(json_agg(json_build_object(
      'event', s -> 0, 'from', s -> 1, 'to', s -> 2, 'at', s -> 3, 'attempt', s -> 4, 'effects', s -> 5)), '[]')
    from json_array_elements(packed) s
  );

-- Every write of an email with its steps, the first one included.
create view email_journal as
select id as actor_id, 1 as revision, commit_tag, life_steps(steps) as steps from emails
union all
select email_id, revision, commit_tag, life_steps(steps) from email_turns;

-- For whom an attempt came to nothing, and why. What it came to for the others is in the event log.
create view email_attempts as
select t.email_id, n.attempt, n.recipient, n.outcome, n.at, n.data
from email_turns t
cross join lateral json_to_recordset(t.noted)
  as n(attempt integer, recipient integer, outcome text, at timestamptz, data json)
where t.noted is not null;

-- Live mail that stayed here, a row for each recipient. It is there once however often it was sent: a repeated attempt is the
-- same copy.
create table captured (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  email_id text collate "C" not null,
  recipient text not null,
  return_path text not null,
  raw bytea not null,
  unique (email_id, recipient)
);
create index captured_by_workspace on captured (workspace_id, id desc);

-- What was captured comes as it is. A server that was built without lz4 goes on with what it has.
do $$
begin
  alter table captured alter column raw set compression lz4;
exception when feature_not_supported then
  null;
end $$;

-- Addresses that get no more live mail of a workspace. That of a forgotten person is null, and its key a keyed hash.
create table suppressions (
  workspace_id text collate "C" not null,
  address_key text collate "C" not null,
  address text,
  reason text not null check (reason in ('bounced', 'complained', 'unsubscribed', 'manual')),
  email_id text collate "C",
  created_at timestamptz not null,
  primary key (workspace_id, address_key)
);
create index suppressions_by_age on suppressions (workspace_id, created_at desc, address_key desc);

-- Removed suppressions that Amazon SES has not heard of yet; the addresses are sealed.
create table ses_removals (
  id text collate "C" primary key,
  sealed text not null,
  attempts integer not null,
  next_at timestamptz not null
);
create index ses_removals_by_next on ses_removals (next_at);


-- The event log --------------------------------------------------------------------------------------------------------------

-- When a service last ran, by a clock that it trusted: a start that is far from it removes nothing at first.
create table last_run (
  one boolean primary key default true check (one),
  at timestamptz not null
);

-- Positions in the event log count from `base`. They are transaction ids, and a restored dump lives in a cluster that counts its
-- own: `cluster` tells that it is another one, and `base` goes up then (src/modules/events/commands.ts).
create table event_log (
  one boolean primary key default true check (one),
  base bigint not null,
  cluster text
);
insert into event_log (base) values (0);
create function event_position() returns bigint language sql stable
  return (select l.base from event_log l where l.one) + pg_current_xact_id()::text::bigint;

-- Every event of the log. Commits do not finish in the order of their ids: `position`, the transaction, orders the log without gaps.
-- A turn names recipients by their place among those of its email, so that an address lies in one row.
create view email_events as
select t.email_id, e.id, t.workspace_id, t.livemode, e.type, b.recipients[e.recipient + 1] as recipient, e.occurred_at,
  e.data, t.position, t.at as written_at
from email_turns t
cross join lateral json_to_recordset(t.recorded)
  as e(id text collate "C", type text, recipient integer, occurred_at timestamptz, data json)
left join emails b on b.id = t.email_id
where t.position is not null;


-- Domains --------------------------------------------------------------------------------------------------------------------

-- Actors: the domains that live email is sent from, shared by both environments of a workspace. Removed ones stay, so that an
-- email that comes due afterwards finds out why it cannot leave.
create table domains (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  livemode boolean not null,
  state text not null check (state in ('pending', 'verified', 'failed', 'temporaryFailure', 'removed')),
  context json not null,
  revision integer not null,
  machine_version smallint not null,
  timers json,
  wake_at timestamptz,
  name text collate "C" not null,
  return_path text not null,
  tracking_domain text
);
-- A name has one living domain, and a live send looks it up here.
create unique index domains_by_name on domains (workspace_id, name) where state <> 'removed';
create index domains_by_workspace on domains (workspace_id, id desc) where state <> 'removed';
create index domains_by_wake_at on domains (wake_at) where wake_at is not null;

create table domain_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

-- The sets of DKIM keys of a domain: the one that signs, the one whose records are awaited, and those that have signed before.
-- `rsa` and `ed25519` are the private halves, sealed, and apart from the domain, so that no snapshot and no list ever holds
-- them. Those of a retired set are destroyed; the names of its records are still shown, until these may go from DNS.
create table domain_keys (
  domain_id text collate "C" not null,
  selector text not null,
  stage text not null check (stage in ('active', 'pending', 'retired')),
  since timestamptz not null,
  rsa_value text not null,
  ed25519_value text not null,
  rsa text,
  ed25519 text,
  primary key (domain_id, selector),
  check ((stage = 'retired') = (rsa is null and ed25519 is null))
);

-- The transport by which the mail of a domain leaves, where its owner has chosen one; null goes back to the default. It is apart
-- from the domain, since a commit writes an actor's own row once, with its snapshot.
create table domain_transports (
  domain_id text collate "C" primary key,
  provider text check (provider in ('capture', 'smtp', 'direct', 'ses'))
);


-- Webhooks -------------------------------------------------------------------------------------------------------------------

-- Actors: where events are sent to. Deleted ones stay until their deliveries are gone.
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
-- A commit of email events reads it: a probe that finds nothing where there are no endpoints.
create index webhook_endpoints_by_workspace on webhook_endpoints (workspace_id, livemode, id desc)
  where state <> 'deleted';

create table webhook_endpoint_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

-- Sealed secrets, apart from the endpoint, so that a rotation is one row and a snapshot holds no secret.
create table webhook_secrets (
  webhook_id text collate "C" primary key,
  sealed text not null,
  prefix text not null
);

-- Actors: one event on its way to one endpoint. `event` is set only where the event is in no log (a test).
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
-- The scheduler reads it, and it finds the deliveries that stop with their endpoint.
create index webhook_deliveries_by_wake_at on webhook_deliveries (wake_at, webhook_id, id) where wake_at is not null;

create table webhook_delivery_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);

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


-- Of every module ------------------------------------------------------------------------------------------------------------

-- Events from actor to actor: written in the sender's commit, deleted in the receiver's.
create table actor_outbox (
  id text collate "C" primary key,
  to_kind text not null,
  to_id text collate "C" not null,
  event json not null
);

-- Replies to requests that may be repeated, written in the statement that performs the action. `reply` is the stored body,
-- sealed where it holds a secret. A call that asks for several things has a row for each: `item` numbers them, and -1 stands for
-- the call itself.
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
