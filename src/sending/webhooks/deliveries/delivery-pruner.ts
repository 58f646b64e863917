import type { Duty } from '../../../engine/duties/duty.ts';
import {
  beginRemoval,
  KEPT_WRITES,
  RETENTION_BATCH,
  type RetentionDeps,
} from '../../../engine/duties/retention.ts';
import type { Database } from '../../../platform/db/database.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';

const ENDPOINTS = 'select id, livemode, state, revision from webhook_endpoints order by id';

/**
 * Reads old deliveries in the order of the list's index, each batch from the end of the last one. A delivery
 * that still waits, because an old event is sent again, is deleted after it has ended.
 */
const PRUNE = `with old as materialized (
  select id from webhook_deliveries where webhook_id = $1 and id > $2 and id < $3 and wake_at is null
  order by id limit ${RETENTION_BATCH}
), attempts as (
  delete from webhook_attempts a using old o where a.delivery_id = o.id
), journal as (
  delete from webhook_delivery_journal j using old o where j.actor_id = o.id
), deliveries as (
  delete from webhook_deliveries d using old o where d.id = o.id
)
select max(id) as last, count(*)::integer as removed from old`;

const PRUNE_HISTORY = 'delete from webhook_endpoint_journal where actor_id = $1 and revision <= $2::integer';

/** A deleted endpoint is kept as long as it has deliveries. */
const BURY = `with gone as (
  delete from webhook_endpoints w where w.id = $1 and w.state = 'deleted'
    and not exists (select from webhook_deliveries d where d.webhook_id = w.id)
  returning w.id
)
delete from webhook_endpoint_journal j using gone g where j.actor_id = g.id`;

interface Endpoint {
  readonly id: string;
  readonly livemode: boolean;
  readonly state: string;
  readonly revision: number;
}

/** Deletes deliveries when the emails of their time are deleted, and the remains of deleted endpoints. */
export const webhookPruner = (deps: RetentionDeps): Duty => ({
  name: 'webhookPruner',
  pattern: '0 37 * * * *',
  goesByAge: true,
  async run(stop) {
    const { database } = deps;
    const [live, test] = [await beginRemoval(deps, true), await beginRemoval(deps, false)];
    for (const endpoint of await database.query<Endpoint>(ENDPOINTS)) {
      if (stop?.aborted) return;
      await prune(database, endpoint, lowestIdAt('dlv', endpoint.livemode ? live : test), stop);
    }
  },
});

async function prune(
  database: Database,
  { id, state, revision }: Endpoint,
  before: string,
  stop?: AbortSignal,
): Promise<void> {
  for (let from = lowestIdAt('dlv', 0); ; ) {
    const [batch] = await database.query<{ last: string | null; removed: number }>(PRUNE, [id, from, before]);
    if (!batch?.last || batch.removed < RETENTION_BATCH) break;
    if (stop?.aborted) return;
    from = batch.last;
  }
  if (revision > KEPT_WRITES) await database.query(PRUNE_HISTORY, [id, revision - KEPT_WRITES]);
  if (state === 'deleted') await database.query(BURY, [id]);
}
