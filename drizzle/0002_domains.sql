-- Actors: the domains that live email is sent from, shared by both environments of a workspace. Removed ones stay, so
-- that an email that comes due afterwards finds out why it cannot leave.
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
  dkim_selector text not null,
  rsa_value text not null,
  ed25519_value text not null,
  return_path text not null,
  tracking_domain text
);
-- One living domain of a name; also what a live send looks up.
create unique index domains_by_name on domains (workspace_id, name) where state <> 'removed';
create index domains_by_workspace on domains (workspace_id, id desc) where state <> 'removed';
create index domains_by_wake_at on domains (wake_at) where wake_at is not null;

-- The private halves, sealed. Apart from the domain, so that no snapshot and no list ever holds them.
create table domain_keys (
  domain_id text collate "C" primary key,
  rsa text not null,
  ed25519 text not null
);

create table domain_journal (
  actor_id text collate "C" not null,
  revision integer not null,
  commit_tag integer not null,
  steps json not null,
  primary key (actor_id, revision)
);
