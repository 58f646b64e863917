import type { Database } from '../../platform/db/database.ts';
import type { PendingEvent } from './fold.ts';
import type { Kind } from './kind.ts';

const STILL_THERE = 'select m.id from unnest($1::text[]) i(id) join actor_outbox m on m.id = i.id';

const commits = (kind: Kind): string => `select j.actor_id as id, j.commit_tag as tag
from json_to_recordset($1::text::json) as d(id text, tag integer)
join ${kind.journal} j on j.actor_id = d.id and j.commit_tag = d.tag`;

/**
 * The events that have been handled after all: those of a commit whose outcome was unknown but that the
 * journal now shows (a backend that lost its client may still finish its statement), and those that the
 * winner of a race has deleted from the outbox. Asks the database nothing where there is no doubt.
 */
export async function alreadyApplied(
  database: Database,
  kind: Kind,
  events: readonly PendingEvent[],
): Promise<ReadonlySet<PendingEvent>> {
  const handled = new Set<PendingEvent>();
  const doubtful = events.filter(({ doubts }) => doubts.length > 0);
  if (doubtful.length > 0) {
    const asked = doubtful.flatMap(({ id, doubts }) => doubts.map((tag) => ({ id, tag })));
    const rows = await database.query<{ id: string; tag: number }>(commits(kind), [JSON.stringify(asked)]);
    for (const pending of doubtful)
      if (rows.some(({ id, tag }) => id === pending.id && pending.doubts.includes(tag))) handled.add(pending);
  }
  const beaten = events.filter(({ outboxId, decisions }) => outboxId !== undefined && decisions > 0);
  if (beaten.length > 0) {
    const rows = await database.query<{ id: string }>(STILL_THERE, [
      beaten.map(({ outboxId }) => outboxId as string),
    ]);
    const there = new Set(rows.map(({ id }) => id));
    for (const pending of beaten) if (!there.has(pending.outboxId as string)) handled.add(pending);
  }
  return handled;
}
