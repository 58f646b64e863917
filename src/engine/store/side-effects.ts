import { WHOLE_CALL } from '../../platform/db/stored-replies.ts';
import { type Draft, meaningOf } from '../machine/draft.ts';
import type { FactRows, Kind } from '../machine/kind.ts';
import type { Claim } from '../machine/result.ts';

/** The columns of the reply that a commit stores with an actor. */
export const claimColumns = (
  claim: Claim,
  state: string,
  context: unknown,
  at: number,
): Record<string, unknown> => ({
  idem_workspace_id: claim.scope.workspaceId,
  idem_livemode: claim.scope.livemode,
  idem_key: claim.key,
  idem_item: claim.item ?? WHOLE_CALL,
  idem_fingerprint: claim.fingerprint,
  idem_status: claim.status,
  idem_reply: claim.reply(state, context),
  idem_at: new Date(at).toISOString(),
});

/** Adds the rows of the fact tables that a draft's effects turn into. */
export function addFacts(kind: Kind, { after, effects, steps }: Draft, row: Record<string, unknown>): void {
  const at = steps.at(-1)?.at ?? 0;
  const named = new Set<string>();
  const addRows = ({ fact, rows: rowsOf }: FactRows<never>, params: unknown): void => {
    const rows = rowsOf(params as never, after, at);
    if (rows.length === 0) return;
    row[fact] = named.has(fact) ? [...(row[fact] as object[]), ...rows] : rows;
    named.add(fact);
  };
  for (const { type, params } of effects) {
    const meaning = meaningOf(kind, type);
    if (!('fact' in meaning)) continue;
    addRows(meaning, params);
    if (meaning.also) addRows(meaning.also, params);
  }
  for (const fact of named) row[fact] = inOrderOfIds(row[fact] as Record<string, unknown>[]);
  for (const { fact, name, isFor } of kind.followers ?? [])
    if (isFor && named.has(fact) && (row[fact] as Record<string, unknown>[]).some(isFor)) row[name] = true;
}

/** Ids of one millisecond are in no order. One actor's facts get theirs ascending, so that the log reads as it happened. */
function inOrderOfIds(rows: readonly Record<string, unknown>[]): readonly object[] {
  if (rows[0]?.id === undefined || isAscending(rows)) return rows;
  const ids = rows.map(({ id }) => id as string).sort();
  return rows.map((row, index) => ({ ...row, id: ids[index] }));
}

const isAscending = (rows: readonly Record<string, unknown>[]): boolean =>
  rows.every(({ id }, index) => index === 0 || (id as string) > (rows[index - 1]?.id as string));
