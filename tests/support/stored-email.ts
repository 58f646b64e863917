/** Lets the timers of the emails end that are in these states (SQL list), as if the time had come. */
export const timersPassed = (states: string): readonly string[] => [
  `update email_turns t set timers = (select json_object_agg(key, 0) from json_each(t.timers))
   from email_due d where d.id = t.email_id and d.state in (${states})
     and t.revision = (select max(revision) from email_turns l where l.email_id = t.email_id)`,
  `update emails b set timers = (select json_object_agg(key, 0) from json_each(b.timers))
   from email_due d where d.id = b.id and d.state in (${states})`,
  `update email_due set wake_at = clock_timestamp() where state in (${states})`,
];

/**
 * SQL that lets a test change what the views of emails show as if they were tables: an email as it is now,
 * its events, its journal. The service writes none of them; a corruption is easier to say of the view than of
 * the JSON beneath it.
 */
export const EDITABLE_VIEWS = `
create or replace function test_edit_email() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from email_due where id = old.id;
    delete from email_turns where email_id = old.id;
    delete from emails where id = old.id;
    return old;
  end if;
  if new.wake_at is null then
    delete from email_due where id = old.id;
  else
    insert into email_due (id, workspace_id, livemode, state, wake_at)
      values (old.id, new.workspace_id, new.livemode, new.state, new.wake_at)
      on conflict (id) do update set state = excluded.state, wake_at = excluded.wake_at;
  end if;
  update emails set subject = new.subject where id = old.id and subject <> new.subject;
  if old.revision = 1 then
    update emails set state = new.state, context = new.context, timers = new.timers, machine_version = new.machine_version,
      scheduled_at = new.scheduled_at where id = old.id;
  else
    update email_turns set revision = new.revision, state = new.state, context = new.context, timers = new.timers,
      machine_version = new.machine_version, last_event = new.last_event, failure_reason = new.failure_reason,
      scheduled_at = new.scheduled_at, sent_at = new.sent_at, delivered_at = new.delivered_at
      where email_id = old.id and revision = old.revision;
  end if;
  return new;
end $$;
create or replace trigger test_edit instead of update or delete on emails_now
  for each row execute function test_edit_email();

create or replace function test_edit_event() returns trigger language plpgsql as $$
declare
  place integer;
  event json;
begin
  if tg_op <> 'DELETE' then
    select coalesce(array_position(recipients, new.recipient) - 1, 99) into place from emails where id = new.email_id;
    event := json_build_object('id', new.id, 'type', new.type, 'recipient', coalesce(place, 0),
      'occurred_at', new.occurred_at, 'data', new.data);
  end if;
  if tg_op = 'INSERT' then
    insert into email_turns (email_id, revision, workspace_id, livemode, state, context, timers, machine_version, commit_tag, steps,
        at, last_event, failure_reason, scheduled_at, sent_at, delivered_at, recorded, position)
      select new.email_id, coalesce((select max(revision) from email_turns where email_id = new.email_id), 1) + 1, new.workspace_id, new.livemode, coalesce(n.state, 'sent'),
        coalesce(n.context, '{}'), n.timers, coalesce(n.machine_version, 1), 0, '[]', coalesce(n.at, now()), n.last_event,
        n.failure_reason, n.scheduled_at, n.sent_at, n.delivered_at, json_build_array(event), event_position()
      from (select) one left join emails_now n on n.id = new.email_id;
    return new;
  end if;
  update email_turns t set position = case when tg_op = 'DELETE' then t.position else new.position end, recorded = (
      select json_agg(case when e->>'id' = old.id then event else e end)
      from json_array_elements(t.recorded) e where tg_op = 'UPDATE' or e->>'id' <> old.id)
    where t.email_id = old.email_id and t.recorded::text like '%' || old.id || '%';
  update email_turns set position = null where email_id = old.email_id and recorded is null;
  return coalesce(new, old);
end $$;
create or replace trigger test_edit instead of insert or update or delete on email_events
  for each row execute function test_edit_event();

create or replace function test_packed_steps(steps json) returns json language sql as $$
  select coalesce(json_agg(json_build_array(s -> 'event', s -> 'from', s -> 'to', s -> 'at', s -> 'attempt', s -> 'effects')), '[]')
  from json_array_elements(steps) s
$$;
create or replace function test_edit_journal() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from email_turns where email_id = old.actor_id and revision = old.revision;
    return old;
  end if;
  if tg_op = 'UPDATE' and old.revision = 1 then
    update emails set steps = test_packed_steps(new.steps) where id = old.actor_id;
  elsif tg_op = 'UPDATE' then
    update email_turns set steps = test_packed_steps(new.steps) where email_id = old.actor_id and revision = old.revision;
  else
    insert into email_turns (email_id, revision, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at)
      values (new.actor_id, new.revision, 'ws_1', false, 'sent', '{}', 1, new.commit_tag, new.steps, now());
  end if;
  return new;
end $$;
create or replace trigger test_edit instead of insert or update or delete on email_journal
  for each row execute function test_edit_journal();
`;

/** The columns of `emails` that a test of other things has no mind to fill, and values for them. */
export const BIRTH = {
  columns: `context, machine_version, commit_tag, steps, at, recipients, recipient_keys, sender_key, subject, tags, envelope, content`,
  values: `'{}', 1, 0, '[]', now(), '{a@b.co}', '{a@b.co}', 'x@y.co', 's', '{}', '{}', ''`,
} as const;
