import type { Database } from '../../db/database.ts';
import type { TakeTicket } from './session.ts';

/**
 * One row a ticket, among the keys of what was done once: they are kept for a day, longer than any ticket lasts, and then
 * removed. No client's key can be taken for one, since none has a space in it.
 */
const TAKE = `insert into idempotency_keys (workspace_id, livemode, key, fingerprint, status, reply, created_at)
values ($1, $2, $3, '', 200, '', $4::timestamptz) on conflict do nothing returning key`;

/** Takes tickets for all processes that share the database. */
export const ticketTaker =
  (database: Database, now: () => number): TakeTicket =>
  async ({ id, workspaceId, livemode }) => {
    const at = new Date(now()).toISOString();
    const rows = await database.query(TAKE, [workspaceId, livemode, `live view ticket ${id}`, at]);
    return rows.length > 0;
  };
