-- Logos are served by the hash of their content for as long as emails may show them: a new logo leaves the earlier ones in
-- place, and the workspace names the present one.
create table workspace_logos (
  workspace_id text collate "C" not null references workspaces (id),
  file text collate "C" not null,
  content bytea not null,
  created_at timestamptz not null,
  primary key (workspace_id, file)
);
create index workspace_logos_by_file on workspace_logos (file);

-- People. An account belongs to no workspace by itself: it is a member of as many as it was invited to. `totp` is sealed, and
-- `totp_step` is the last time step of which a code was taken, so that none is taken twice (RFC 6238, 5.2).
create table accounts (
  id text collate "C" primary key,
  email text not null,
  email_key text not null unique,
  name text not null,
  password text,
  totp text,
  totp_confirmed_at timestamptz,
  totp_step bigint not null default 0,
  created_at timestamptz not null
);

create table members (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  account_id text collate "C" not null references accounts (id),
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  joined_at timestamptz not null,
  last_seen_at timestamptz,
  unique (workspace_id, account_id)
);
create index members_by_account on members (account_id);

-- Links that make somebody a member; only their hashes are kept.
create table invitations (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  email text not null,
  email_key text not null,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  invited_by text not null,
  hash text collate "C" not null unique,
  expires_at timestamptz not null,
  accepted_at timestamptz
);
create index invitations_by_workspace on invitations (workspace_id, id desc);

-- What the cookies of browsers stand for; only hashes of the cookies are kept. A row that is gone is a session that has ended.
create table browser_sessions (
  id text collate "C" primary key,
  hash text collate "C" not null unique,
  kind text not null check (kind in ('key', 'operatorLink', 'account')),
  subject_id text collate "C" not null,
  workspace_id text collate "C" not null references workspaces (id),
  livemode boolean not null,
  user_agent text not null,
  client text not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index browser_sessions_by_subject on browser_sessions (subject_id);
create index browser_sessions_by_end on browser_sessions (expires_at);

create table passkeys (
  id text collate "C" primary key,
  credential text collate "C" not null unique,
  account_id text collate "C" not null references accounts (id),
  name text not null,
  public_key text not null,
  counter bigint not null,
  transports json not null,
  last_used_at timestamptz
);
create index passkeys_by_account on passkeys (account_id);

-- Codes that stand in for a lost second factor, each once; only hashes are kept.
create table recovery_codes (
  account_id text collate "C" not null references accounts (id),
  hash text collate "C" not null,
  used_at timestamptz,
  primary key (account_id, hash)
);

-- Who did what. The names are those of then, since members and keys go.
create table audit_log (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  actor_type text not null check (actor_type in ('member', 'apiKey', 'operator', 'system')),
  actor_id text collate "C",
  actor_name text,
  action text collate "C" not null,
  target_id text,
  details json not null
);
create index audit_log_by_workspace on audit_log (workspace_id, id desc);
