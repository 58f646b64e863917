import type { ShardTerms } from '../../platform/db/distribution/terms.ts';
import type { SpawnCondition } from '../machine/storage.ts';

/** Stands in place of a stored reply's status for a call that was withheld. */
export const WITHHELD = -1;

/** CTEs over the relation `input`: each condition, and the relation `withheld` of those for whom one does not hold. Empty without any. */
export const withheldCtes = (conditions: readonly SpawnCondition[]): string =>
  conditions.length === 0
    ? ''
    : `${conditions.map(({ name, sql }) => `, ${name} as materialized (${sql('input')})`).join('')}, withheld as materialized (
  ${conditions
    .map(
      ({ name, judged }) => `select ord from input where ${judged} and ord not in (select ord from ${name})`,
    )
    .join(' union all ')}
)`;

/** The status that is answered of a call that was not admitted: that of the stored reply, unless it was withheld. */
export const answeredStatus = (ctes: string, stored: string): string =>
  ctes === '' ? stored : `case when i.ord in (select ord from withheld) then ${WITHHELD} else ${stored} end`;

/** The row of an idempotency key. Lateral, so that it is looked up by its index, never by hashing the whole table. */
export const usedKey = (columns: string, shard: ShardTerms): string => `left join lateral (
    select ${columns} from idempotency_keys
    where workspace_id = i.idem_workspace_id and livemode = i.idem_livemode and key = i.idem_key
      and item = i.idem_item${shard.within('idempotency_keys', 'idempotency_keys')} limit 1
  ) k on i.idem_key is not null`;
