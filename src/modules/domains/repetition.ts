import type { Database } from '../../db/database.ts';
import { storedReplyOf } from '../../engine/stored-replies.ts';
import type { Failure } from '../../http/failure.ts';
import { replayOf } from '../../http/idempotency.ts';
import type { Call, Replay } from '../../http/route.ts';

/** A claim that was written with the order of a call is given what the call was answered in the end; one that was not is written. */
const KEEP = `insert into idempotency_keys as k (workspace_id, livemode, key, fingerprint, status, reply, created_at)
values ($1, $2, $3, $4, $5, $6, $7::timestamptz)
on conflict (workspace_id, livemode, key) do update set reply = excluded.reply where k.fingerprint = excluded.fingerprint`;

/** Keeps what a call is answered for its repetitions, where that is known only after its order was carried out. */
export async function keepReply(
  database: Database,
  { caller: { workspaceId, livemode }, claim, now }: Call,
  status: number,
  body: unknown,
): Promise<void> {
  if (!claim) return;
  const { key, fingerprint } = claim;
  const at = new Date(now).toISOString();
  const reply = JSON.stringify(body);
  await database.query(KEEP, [workspaceId, livemode, key, fingerprint, status, reply, at]);
}

/** What a repeated call is answered, told before anything costly is done; null for a call that is new. */
export async function repetitionOf(
  database: Database,
  { caller, claim, now }: Call,
): Promise<Failure | Replay | null> {
  if (!claim) return null;
  const stored = await storedReplyOf(database, { key: claim.key, scope: caller }, now);
  return stored ? replayOf(claim, stored, () => JSON.parse(stored.reply)) : null;
}
