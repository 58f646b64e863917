-- What is counted before something is added, as `audiences_present` counts: whoever asks is alone until its statement has been committed,
-- and sees what those before it have written. So two requests at once cannot both take the last place.
create function flows_present(workspace text, environment boolean) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('flows ' || workspace || ' ' || environment, 0));
  return (
    select count(*) from flows f where f.workspace_id = workspace and f.livemode = environment and f.deleted_at is null
  );
end $$;

create function campaigns_present(workspace text, environment boolean) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('campaigns ' || workspace || ' ' || environment, 0));
  return (
    select count(*) from campaigns c
    where c.workspace_id = workspace and c.livemode = environment and c.state <> 'deleted'
  );
end $$;

create function pending_invitations(workspace text, at timestamptz) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('invitations ' || workspace, 0));
  return (
    select count(*) from invitations i
    where i.workspace_id = workspace and i.accepted_at is null and i.expires_at > at
  );
end $$;

create function passkeys_of(account text) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('passkeys ' || account, 0));
  return (select count(*) from passkeys p where p.account_id = account);
end $$;

-- Those that are being erased count no more.
create function workspaces_of(account text) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('workspaces ' || account, 0));
  return (
    select count(*) from members m join workspaces w on w.id = m.workspace_id and w.erase_at is null
    where m.account_id = account
  );
end $$;
