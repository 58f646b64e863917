import type { Database } from '../db/database.ts';
import { KEPT_WRITES, RETENTION_BATCH } from './retention.ts';
import type { Duty, DutyDeps } from './schedule.ts';

/** Actors that live as long as their owner likes, and where their histories lie. Those of endpoints go with their deliveries. */
const HISTORIES = [
  ['domains', 'domain_journal'],
  ['api_keys', 'api_key_journal'],
] as const;

/** The few that have more; the revision counts the writes. The audit knows a history that was cut by its length. */
const prune = (actors: string, journal: string): string => `delete from ${journal} j using (
  select j.actor_id, j.revision from ${actors} a join ${journal} j on j.actor_id = a.id and j.revision <= a.revision - ${KEPT_WRITES}
  where a.revision > ${KEPT_WRITES} limit ${RETENTION_BATCH}
) old where j.actor_id = old.actor_id and j.revision = old.revision returning 1 as one`;

const DAY_MS = 86_400_000;
/** As long as a live email may still name it: it waits at most 30 days and three more, and is kept for 90. */
const REMOVED_KEPT_MS = 90 * DAY_MS;
/** The records of retired keys may go after a week; who has not noticed by then will not. */
const RETIRED_KEPT_MS = 90 * DAY_MS;

/** A removed domain was last written when it was removed. */
const BURY = `with old as materialized (
  select id from domains where state = 'removed' and (context->>'at')::float8 < $1::float8 order by id limit ${RETENTION_BATCH}
), journal as (
  delete from domain_journal j using old o where j.actor_id = o.id
), choices as (
  delete from domain_transports t using old o where t.domain_id = o.id
), keys as (
  delete from domain_keys k using old o where k.domain_id = o.id
)
delete from domains d using old o where d.id = o.id returning 1 as one`;

const FORGET = `delete from domain_keys where stage = 'retired' and since < $1::timestamptz`;

/** Cuts the histories of domains and API keys, and deletes what is left of removed domains and retired keys. */
export const historyPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'historyPruner',
  pattern: '0 57 * * * *',
  goesByAge: true,
  async run(stop) {
    for (const [actors, journal] of HISTORIES) await untilDone(database, prune(actors, journal), [], stop);
    await untilDone(database, BURY, [clock.now() - REMOVED_KEPT_MS], stop);
    if (stop?.aborted) return;
    await database.query(FORGET, [new Date(clock.now() - RETIRED_KEPT_MS).toISOString()]);
  },
});

async function untilDone(
  database: Database,
  statement: string,
  parameters: readonly number[],
  stop?: AbortSignal,
): Promise<void> {
  while (!stop?.aborted && (await database.query(statement, parameters)).length === RETENTION_BATCH);
}
