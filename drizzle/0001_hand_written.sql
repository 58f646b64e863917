-- The part of the schema that drizzle-kit cannot write: partitions, storage, functions, triggers, views, and the
-- rows that every database begins with. The tables are described in src/platform/db/schema.


-- Partitions and storage ------------------------------------------------------------------------------------------------

-- The service compresses these itself. PostgreSQL would try it again: 337 µs for 15 kB of HTML with pglz, 61 with lz4.
-- Partitions take the setting from their parent when they are created, so the default partition comes after it.
alter table emails alter column content set storage external;
alter table captured alter column raw set storage external;
-- A chunk lives for a minute.
alter table contact_import_chunks alter column content set storage external;

-- Default partitions take the rows that no other partition expects (src/platform/db/partitions.ts).
create table emails_default partition of emails default;
create table email_turns_default partition of email_turns default;

-- A server that was built without lz4 keeps its default.
do $$
begin
  alter table captured alter column raw set compression lz4;
  alter table template_versions alter column content set compression lz4;
  alter table campaign_contents alter column content set compression lz4;
exception when feature_not_supported then
  null;
end $$;

-- An update that fits into its page changes no index.
alter table campaign_recipients set (fillfactor = 50);
alter table instances set (fillfactor = 50);
alter table learned_limits set (fillfactor = 50);
alter table live_watches set (fillfactor = 50);
alter table service_instances set (fillfactor = 50);
alter table usage set (fillfactor = 50);
alter table warm_up_days set (fillfactor = 50);
alter table webhook_deliveries set (fillfactor = 55);

alter table live_news set unlogged;
alter table live_watches set unlogged;

alter table audience_matches alter column audience_ids type text[] collate "C";

-- The planner estimates how many contacts have a property from the values that ANALYZE has sampled. A value that one
-- contact in sixty has is often missing in a sample of a hundred, and the index then seems to find no row.
alter table contacts alter column properties set statistics 400;

-- A search by the beginning of an address reads ids from the index alone: for two hundred contacts apart from each
-- other among a million, reading the rows took 4 ms.
create unique index contacts_by_email on contacts (workspace_id, livemode, email_key) include (id);


-- Emails and their events -----------------------------------------------------------------------------------------------

insert into event_log (base) values (0);

-- The position of the events of this transaction. Commits do not finish in the order of their positions.
create function event_position() returns bigint language sql stable
  return (select l.base from event_log l where l.one) + pg_current_xact_id()::text::bigint;

alter table contact_activity alter column position set default event_position();

-- The steps of a write, which are stored without names, each as an object.
create function life_steps(packed json) returns json language sql immutable
  return (
    select coalesce(json_agg(json_build_object(
      'event', s -> 0, 'from', s -> 1, 'to', s -> 2, 'at', s -> 3, 'attempt', s -> 4, 'effects', s -> 5)), '[]')
    from json_array_elements(packed) s
  );

-- Both sides of each join have the same workspace, and the joins say so: a database that is distributed by workspace
-- joins on each node then. The context of a snapshot omits members that are columns, and a turn those of the first
-- revision.
create view emails_now as
select b.id, b.workspace_id, b.livemode,
  coalesce(t.state, b.state) as state,
  case when t.context is null then (jsonb_build_object(
      'at', (extract(epoch from b.at) * 1000)::bigint, 'scheduledAt', (extract(epoch from b.scheduled_at) * 1000)::bigint,
      'lastEvent', null, 'failureReason', null, 'sentAt', null, 'deliveredAt', null, 'begunBy', null, 'firstAttemptAt', null) || b.context::jsonb)::json
    else (jsonb_build_object('begunBy', null, 'firstAttemptAt', null) || b.context::jsonb || jsonb_build_object(
      'at', (extract(epoch from t.at) * 1000)::bigint, 'scheduledAt', (extract(epoch from t.scheduled_at) * 1000)::bigint,
      'lastEvent', t.last_event, 'failureReason', t.failure_reason,
      'sentAt', (extract(epoch from t.sent_at) * 1000)::bigint, 'deliveredAt', (extract(epoch from t.delivered_at) * 1000)::bigint)
      || t.context::jsonb)::json end as context,
  coalesce(t.revision, 1) as revision,
  coalesce(t.machine_version, b.machine_version) as machine_version,
  case when t.revision is null then b.timers else t.timers end as timers,
  coalesce(t.at, b.at) as at,
  d.wake_at, case when t.revision is null then b.kept_by end as kept_by, b.recipients, b.recipient_keys, b.subject, b.tags, b.domain_id, b.template_id, b.campaign_id,
  t.last_event, t.failure_reason,
  case when t.revision is null then b.scheduled_at else t.scheduled_at end as scheduled_at,
  t.sent_at, t.delivered_at
from emails b
left join lateral (
  select * from email_turns l where l.email_id = b.id and l.workspace_id = b.workspace_id order by l.revision desc limit 1
) t on true
left join email_due d on d.id = b.id and d.workspace_id = b.workspace_id;

create view email_journal as
select id as actor_id, 1 as revision, commit_tag, life_steps(steps) as steps, workspace_id from emails
union all
select email_id, revision, commit_tag, life_steps(steps), workspace_id from email_turns;

create view email_attempts as
select t.email_id, n.attempt, n.recipient, n.outcome, n.at, n.data, t.workspace_id
from email_turns t
cross join lateral json_to_recordset(t.noted)
  as n(attempt integer, recipient integer, outcome text, at timestamptz, data json)
where t.noted is not null;

create view email_events as
select t.email_id, e.id, t.workspace_id, t.livemode, e.type, b.recipients[e.recipient + 1] as recipient, e.occurred_at,
  e.data, t.position, t.at as written_at
from email_turns t
cross join lateral json_to_recordset(t.recorded)
  as e(id text collate "C", type text, recipient integer, occurred_at timestamptz, data json)
left join emails b on b.id = t.email_id and b.workspace_id = t.workspace_id
where t.position is not null;

create view usage_totals as
select workspace_id, livemode, period, sum(used)::integer as used
from (
  select workspace_id, livemode, period, used from usage
  union all select workspace_id, livemode, period, units from usage_entries
) parts
group by workspace_id, livemode, period;


-- Contacts and flows ----------------------------------------------------------------------------------------------------

insert into flow_feed default values;

-- A statement that writes the activity of a contact need not know the contact's test clock.
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

-- Ends a statement as PostgreSQL ends one that lost a race, so that it is repeated: another one has added an address.
create function contact_import_raced() returns integer language plpgsql as $$ begin
  raise exception 'an address was added meanwhile' using errcode = '40001';
end $$;

-- A statement that adds or removes a member locks the contact first. It sees the rows committed before it began; a
-- volatile function sees those committed before its call, so also those that were written while it waited for the lock.
create function latest_membership(contact text, audience text, out type text, out data json)
language plpgsql volatile as $$
begin
  select entry.type, entry.data into latest_membership.type, latest_membership.data from contact_activity entry
  where entry.contact_id = contact and entry.subject = audience and entry.type in ('joined', 'left')
  order by entry.position desc, entry.id desc limit 1;
end $$;

-- Takes a contact out of an audience. The result is its former state, null where it was no member.
create function end_membership(contact text, audience text) returns text
language plpgsql volatile as $$
declare was text;
begin
  delete from audience_members m where m.audience_id = audience and m.contact_id = contact returning m.state into was;
  return was;
end $$;


-- Counts before an addition ---------------------------------------------------------------------------------------------

-- Each of these functions locks until the end of the caller's statement, and then counts the rows of all earlier
-- callers, so that two requests at once cannot both take the last place. A count in the statement itself would miss
-- the rows that others are about to write.

create function audiences_present(workspace text, environment boolean, out present bigint, out dynamic bigint)
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('audiences ' || workspace || ' ' || environment, 0));
  select count(*), count(*) filter (where a.type = 'dynamic') into present, dynamic from audiences a
  where a.workspace_id = workspace and a.livemode = environment;
end $$;

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

create function open_imports(workspace text, environment boolean) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('imports ' || workspace || ' ' || environment, 0));
  return (
    select count(*) from contact_imports i
    where i.workspace_id = workspace and i.livemode = environment and i.state in ('queued', 'checking', 'processing')
  );
end $$;

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

-- Workspaces that are being erased do not count.
create function workspaces_of(account text) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('workspaces ' || account, 0));
  return (
    select count(*) from members m join workspaces w on w.id = m.workspace_id and w.erase_at is null
    where m.account_id = account
  );
end $$;

create function test_clocks_present(workspace text) returns bigint
language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('test clocks ' || workspace, 0));
  return (select count(*) from test_clocks c where c.workspace_id = workspace);
end $$;
