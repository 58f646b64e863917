-- The views that a person has beside the one of that name, counted one request after the other: a count in the statement
-- itself would miss the rows that others are about to write.
create function saved_views_beside(workspace text, account text, list text, named text) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('saved views ' || workspace || ' ' || account, 0));
  return (
    select count(*) from saved_views v
    where v.workspace_id = workspace and v.account_id = account and (v.page, v.name) <> (list, named)
  );
end $$;
