import type { Database } from '../../db/database.ts';
import { storedReplyOf } from '../../engine/stored-replies.ts';
import type { Failure } from '../../http/failure.ts';
import { replayOf } from '../../http/idempotency.ts';
import type { Call, Replay } from '../../http/route.ts';

/** What a repeated call is answered, told before anything costly is done; null for a call that is new. */
export async function repetitionOf(
  database: Database,
  { caller, claim, now }: Call,
): Promise<Failure | Replay | null> {
  if (!claim) return null;
  const stored = await storedReplyOf(database, { key: claim.key, scope: caller }, now);
  return stored ? replayOf(claim, stored, () => JSON.parse(stored.reply)) : null;
}
