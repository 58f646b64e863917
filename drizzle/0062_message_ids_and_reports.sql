-- The Message-IDs that clients have chosen. Each is taken for ninety days, so that a reply or a bounce can be told by it.
create table message_ids (
  workspace_id text collate "C" not null,
  livemode boolean not null,
  message_id text collate "C" not null,
  email_id text collate "C" not null,
  until timestamptz not null,
  primary key (workspace_id, livemode, message_id)
);
create index message_ids_by_until on message_ids (until);

-- Whether a Message-ID is free. Who asks is alone with it until its statement has been committed, and sees what was committed before: a
-- look in the statement itself would not see what others are about to write.
create function is_free_message_id(workspace text, environment boolean, message text, at timestamptz) returns boolean
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('message id ' || workspace || ' ' || environment || ' ' || message, 0));
  return not exists (
    select from message_ids m
    where m.workspace_id = workspace and m.livemode = environment and m.message_id = message and m.until > at
  );
end $$;

-- The reports that a client has asked for by SMTP (NOTIFY of RFC 3461), a row for each recipient until what becomes of the email has been
-- told. Written with the email, so that a crash loses none.
create table report_requests (
  workspace_id text collate "C" not null,
  email_id text collate "C" not null,
  recipient integer not null,
  asked_at timestamptz not null,
  attempts integer not null default 0,
  next_at timestamptz not null,
  -- Its success was told; a failure may still come.
  is_success_told boolean not null default false,
  primary key (email_id, recipient)
);
create index report_requests_by_next on report_requests (next_at);
