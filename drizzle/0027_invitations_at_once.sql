-- The invitations of a workspace that are neither accepted nor expired, read one request after the other: a look in the
-- statement itself would miss the rows that others are about to write.
create function open_invitations(workspace text, at timestamptz) returns setof invitations
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('invitations ' || workspace, 0));
  return query
    select i.* from invitations i
    where i.workspace_id = workspace and i.accepted_at is null and i.expires_at > at;
end $$;
