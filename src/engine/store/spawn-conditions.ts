import type { ShardTerms } from '../../platform/db/distribution/terms.ts';

/**
 * A condition on some new actors, checked in the statement that writes them: the purpose of the actors may be
 * fulfilled, or stopped, since the request. Actors for which it does not hold are withheld; nothing of them
 * is written, and they take no quota.
 */
export interface SpawnCondition {
  readonly name: string;
  /** SQL over the input: the actors that are judged. */
  readonly judged: string;
  /** SQL of a query that answers `ord` of those for whom it holds, and may lock rows until they are written. */
  sql(input: string): string;
}

/**
 * The condition of another module on some new actors of a kind, and its writes with them. A batch in which
 * the first column is null throughout has none that it is about.
 */
export interface SpawnRule {
  /** Further columns of the input: `name text, …`. Null for actors that are none of its business. */
  readonly columns: string;
  readonly conditions: readonly SpawnCondition[];
  /** Further writes; `admitted` is a relation of the admitted input rows. */
  readonly writes: readonly ((admitted: string) => string)[];
}

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
