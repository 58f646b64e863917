-- Both sides of each join have one workspace, and the joins say so: a database that is distributed by it joins on each node then.
create or replace view emails_now as
select b.id, b.workspace_id, b.livemode,
  coalesce(t.state, b.state) as state,
  case when t.context is null then b.context else (b.context::jsonb || t.context::jsonb)::json end as context,
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

create or replace view email_journal as
select id as actor_id, 1 as revision, commit_tag, life_steps(steps) as steps, workspace_id from emails
union all
select email_id, revision, commit_tag, life_steps(steps), workspace_id from email_turns;

create or replace view email_events as
select t.email_id, e.id, t.workspace_id, t.livemode, e.type, b.recipients[e.recipient + 1] as recipient, e.occurred_at,
  e.data, t.position, t.at as written_at
from email_turns t
cross join lateral json_to_recordset(t.recorded)
  as e(id text collate "C", type text, recipient integer, occurred_at timestamptz, data json)
left join emails b on b.id = t.email_id and b.workspace_id = t.workspace_id
where t.position is not null;
