CREATE INDEX "api_keys_that_are_active" ON "api_keys" USING btree ("workspace_id","livemode") WHERE "api_keys"."state" = 'active';


-- The active keys of an environment, counted by one request behind the other.
create function api_keys_active(workspace text, environment boolean) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('api keys ' || workspace || ' ' || environment, 0));
  return (
    select count(*) from api_keys k
    where k.workspace_id = workspace and k.livemode = environment and k.state = 'active'
  );
end $$;
