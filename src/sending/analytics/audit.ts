import type { Audit } from '../../engine/audit/actors.ts';
import { COUNTS, hourOf } from './counting.ts';

/** The scope after ($1, $2) in either table: a batch of the audit is all the hours of one scope. */
const NEXT = `select workspace_id, scope from (
  (select workspace_id, scope from analytics where (workspace_id, scope) > ($1, $2) order by workspace_id, scope limit 1)
  union all
  (select workspace_id, scope from analytics_hours where (workspace_id, scope) > ($1, $2) order by workspace_id, scope limit 1)
) s order by workspace_id, scope limit 1`;

const OF_SCOPE = 'where workspace_id = $1 and scope = $2';
const UNEQUAL = `with quarters as (
  select ${hourOf('quarter')} as hour, ${COUNTS.map((name) => `sum(${name}) as ${name}`).join(', ')}
  from analytics ${OF_SCOPE} group by 1
), hours as (
  select hour, ${COUNTS.map((name) => `${name}::bigint as ${name}`).join(', ')} from analytics_hours ${OF_SCOPE}
)
select count(*)::integer as hours,
  count(*) filter (where row(q.*) is distinct from row(h.*))::integer as wrong
from quarters q full join hours h on h.hour = q.hour`;

/** Compares the sums of hours with those of their quarters, scope by scope. */
export async function auditAnalytics({ session, findings }: Audit): Promise<void> {
  let last = { workspace_id: '', scope: '' };
  for (;;) {
    const [next] = await session.query<typeof last>(NEXT, [last.workspace_id, last.scope]);
    if (!next) return;
    last = next;
    const [found] = await session.query<{ hours: number; wrong: number }>(UNEQUAL, [
      next.workspace_id,
      next.scope,
    ]);
    const { hours = 0, wrong = 0 } = found ?? {};
    findings.look('analytics', hours);
    if (wrong > 0)
      findings.wrong(
        'analytics',
        `${next.workspace_id} ${next.scope}`.trim(),
        `${wrong} hours are not the sum of their quarters`,
      );
  }
}
