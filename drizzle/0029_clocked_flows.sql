-- Contacts, what they do, and runs of flows may live by a test clock, as emails do; and deliveries of the events of such emails.

-- Contacts that were made with the header of a test clock: what they do is followed by it.
create table test_clock_contacts (
  contact_id text collate "C" primary key,
  test_clock_id text collate "C" not null
);
create index test_clock_contacts_by_clock on test_clock_contacts (test_clock_id);

-- `awaits_clock`: the clock has yet to follow the entry. No other follower takes one of a clock.
alter table contact_activity add column test_clock_id text collate "C", add column awaits_clock boolean not null default false;
create index contact_activity_of_test_clocks on contact_activity (test_clock_id, position, id) where awaits_clock;

-- Whoever writes what a contact does need not know of its clock.
create function contact_activity_on_clock() returns trigger
language plpgsql as $$
begin
  select t.test_clock_id into new.test_clock_id from test_clock_contacts t where t.contact_id = new.contact_id;
  new.awaits_clock := new.test_clock_id is not null;
  return new;
end $$;
create trigger contact_activity_on_clock before insert on contact_activity
for each row when (not new.livemode and new.email_id is null and new.test_clock_id is null)
execute function contact_activity_on_clock();

-- `started_at` is the real time of a run; by its clock it began at `clock_started_at`.
alter table flow_runs add column test_clock_id text collate "C", add column clock_started_at timestamptz;
create index flow_runs_of_test_clocks on flow_runs (test_clock_id, id) where test_clock_id is not null;

alter table webhook_deliveries add column test_clock_id text collate "C";
create index webhook_deliveries_of_test_clocks on webhook_deliveries (test_clock_id, id) where test_clock_id is not null;

-- Contacts that were made for a clock, and runs that began by it.
alter table test_clocks add column contacts integer not null default 0, add column runs integer not null default 0;
