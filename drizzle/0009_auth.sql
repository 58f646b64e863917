-- Tokens that let somebody in once, such as a printed link. Only their hashes are kept.
create table one_time_tokens (
  hash text collate "C" primary key,
  purpose text not null,
  subject json not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index one_time_tokens_by_end on one_time_tokens (expires_at);

alter table workspaces drop constraint workspaces_plan_check;
alter table workspaces add constraint workspaces_plan_check
  check (plan in ('free', 'starter', 'growth', 'unlimited'));
