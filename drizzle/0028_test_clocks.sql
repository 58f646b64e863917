-- Clocks of the test environment: the emails of one wait by it, and not by the real time. `now_at` is what it shows; while it is
-- `advancing`, what is due up to `target_at` is being done, by whoever holds the lease.
create table test_clocks (
  workspace_id text collate "C" not null,
  id text collate "C" not null,
  name text not null,
  status text not null check (status in ('ready', 'advancing')),
  now_at timestamptz not null,
  target_at timestamptz not null,
  -- Emails that were ever accepted for it.
  emails integer not null default 0,
  -- When the latest of them was about to be written: for a while it is looked after whether it has begun.
  entered_at timestamptz,
  leased_by text,
  leased_until timestamptz,
  primary key (workspace_id, id)
);
create index test_clocks_at_work on test_clocks (id) where status = 'advancing' or entered_at is not null;

-- What is counted before a clock is added, as `audiences_present` counts.
create function test_clocks_present(workspace text) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('test clocks ' || workspace, 0));
  return (select count(*) from test_clocks c where c.workspace_id = workspace);
end $$;

alter table emails add column test_clock_id text collate "C";
create index emails_of_test_clocks on emails (test_clock_id, id) where test_clock_id is not null;
