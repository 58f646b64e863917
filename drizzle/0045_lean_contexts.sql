-- What stands in a column of an email or of its turn is not repeated in its context, and what a turn right after the birth has in common
-- with it lies in the birth alone, where it is not null. What was written before says it twice, which is read as well.
create or replace view emails_now as
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
