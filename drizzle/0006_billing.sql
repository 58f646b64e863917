-- What Stripe says of each workspace's subscription. `asked` counts the readings that began, `read` is the latest one that was
-- written: a reading that was overtaken by a later one changes nothing, so that callbacks may come in any order.
create table billing (
  workspace_id text collate "C" primary key references workspaces (id),
  customer text collate "C" not null unique,
  subscription text,
  status text not null default 'none',
  plan text,
  paid_plan text,
  paid_until timestamptz,
  past_due_since timestamptz,
  renews_at timestamptz,
  cancel_at timestamptz,
  asked bigint not null default 0,
  read bigint not null default 0
);

-- Callbacks that were carried out, so that each one is once.
create table stripe_events (
  id text collate "C" primary key,
  at timestamptz not null
);
create index stripe_events_by_age on stripe_events (at);
