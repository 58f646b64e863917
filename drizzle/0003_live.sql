-- For whom an attempt came to nothing, and why. What it came to for the others is in the event log.
create table email_attempts (
  email_id text collate "C" not null,
  attempt integer not null,
  recipient integer not null,
  outcome text not null check (outcome in ('deferred', 'unknown')),
  at timestamptz not null,
  data json not null
) partition by range (email_id);
create table email_attempts_default partition of email_attempts default;
-- Not unique: an attempt that was lost and repeated by two instances may be told twice.
create index email_attempts_by_email on email_attempts (email_id, attempt);

-- Live mail that stayed here, a row for each recipient. Once however often it was sent: a repeated attempt is the same copy.
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

create index suppressions_by_age on suppressions (workspace_id, created_at desc, address_key desc);
