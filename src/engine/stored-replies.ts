import type { Database } from '../db/database.ts';
import { isDuplicate } from '../db/sqlstate.ts';
import type { Claim, StoredReply } from './told.ts';

/** How long a reply is kept for its idempotency key (interface, Idempotency 2). */
export const REPLY_KEPT_MS = 24 * 60 * 60 * 1_000;

const READ = `with asked as (
  select * from json_to_recordset($1::text::json) as a(workspace_id text, livemode boolean, key text)
), expired as (
  delete from idempotency_keys k using asked a
  where k.workspace_id = a.workspace_id and k.livemode = a.livemode and k.key = a.key
    and k.created_at <= $2::timestamptz
)
select k.workspace_id, k.livemode, k.key, k.fingerprint, k.status, k.reply
from asked a join idempotency_keys k
  on k.workspace_id = a.workspace_id and k.livemode = a.livemode and k.key = a.key
where k.created_at > $2::timestamptz`;

interface ReplyRow {
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly reply: string;
}

/** One text for a key within its scope. */
export const replyKey = ({ scope, key }: Pick<Claim, 'scope' | 'key'>): string =>
  `${scope.workspaceId} ${scope.livemode} ${key}`;

/** The stored replies of these keys, by `replyKey`; what has passed its 24 hours is removed on the way. */
export async function storedReplies(
  database: Database,
  asked: readonly Pick<Claim, 'scope' | 'key'>[],
  now: number,
): Promise<ReadonlyMap<string, StoredReply>> {
  if (asked.length === 0) return new Map();
  const keys = asked.map(({ scope, key }) => ({
    workspace_id: scope.workspaceId,
    livemode: scope.livemode,
    key,
  }));
  const rows = await database.query<ReplyRow>(READ, [
    JSON.stringify(keys),
    new Date(now - REPLY_KEPT_MS).toISOString(),
  ]);
  return new Map(
    rows.map((row) => [
      replyKey({ scope: { workspaceId: row.workspace_id, livemode: row.livemode }, key: row.key }),
      { outcome: 'replayed', fingerprint: row.fingerprint, status: row.status, reply: row.reply },
    ]),
  );
}

/** The stored reply of one key; null when there is none. */
export async function storedReplyOf(
  database: Database,
  asked: Pick<Claim, 'scope' | 'key'>,
  now: number,
): Promise<StoredReply | null> {
  return (await storedReplies(database, [asked], now)).get(replyKey(asked)) ?? null;
}

/**
 * Whether a write that carries a claim, and was refused as a duplicate, may find its reply when it is decided again: another
 * instance has taken the key since. Where another constraint is violated, that may be the doing of the first call with
 * the same key (the name of a domain), which is seen at the second look; after that the error is the call's own.
 */
export const mayBeRepetition = (error: unknown, looks: number): boolean =>
  isDuplicate(error, 'idempotency_keys_pkey') || (looks === 0 && isDuplicate(error));
