-- Emails of the service itself on their way out: to people who use it, not to recipients of a workspace. They are apart from `emails`, whose
-- readers must not see the links in them, and count against no quota. `sealed` holds the address and what the email says.
create table service_emails (
  id text collate "C" primary key,
  workspace_id text collate "C",
  sealed text not null,
  attempts integer not null default 0,
  next_at timestamptz not null,
  expires_at timestamptz not null
);
create index service_emails_by_next on service_emails (next_at);

-- How many invitations were mailed to an address, by its hash, over all workspaces since a moment less than a day ago.
create table service_email_readers (
  reader text collate "C" primary key,
  since timestamptz not null,
  mails integer not null
);
