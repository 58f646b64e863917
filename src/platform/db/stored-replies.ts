import type { Database, Parameter } from './database.ts';
import { isDuplicate } from './sqlstate.ts';

/** An idempotency key in its scope: workspaces, and the two environments of one, share no keys. */
export interface ReplyKey {
  readonly scope: { readonly workspaceId: string; readonly livemode: boolean };
  readonly key: string;
  /** The number of one item of the call; left out for the call as a whole. */
  readonly item?: number | undefined;
}

/** The item number of a call as a whole. */
export const WHOLE_CALL = -1;

/** The stored reply of an idempotency key that was used before. */
export interface StoredReply {
  readonly outcome: 'replayed';
  readonly fingerprint: string;
  readonly status: number;
  readonly reply: string;
}

/** The time that a reply is kept. */
export const REPLY_KEPT_MS = 24 * 60 * 60 * 1_000;

const READ = `with asked as (
  select * from json_to_recordset($1::text::json) as a(workspace_id text, livemode boolean, key text, item smallint)
), expired as (
  delete from idempotency_keys k using asked a
  where k.workspace_id = a.workspace_id and k.livemode = a.livemode and k.key = a.key and k.item = a.item
    and k.created_at <= $2::timestamptz
)
select k.workspace_id, k.livemode, k.key, k.item, k.fingerprint, k.status, k.reply
from asked a join idempotency_keys k
  on k.workspace_id = a.workspace_id and k.livemode = a.livemode and k.key = a.key and k.item = a.item
where k.created_at > $2::timestamptz`;

interface ReplyRow {
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly key: string;
  readonly item: number;
  readonly fingerprint: string;
  readonly status: number;
  readonly reply: string;
}

/** Writes a key, its scope and its item as one text. */
export const replyKey = ({ scope, key, item = WHOLE_CALL }: ReplyKey): string =>
  `${scope.workspaceId} ${scope.livemode} ${item} ${key}`;

/**
 * Reads the stored replies of keys, by `replyKey`; those that are older than 24 hours are removed on the way.
 */
export async function storedReplies(
  database: Database,
  asked: readonly ReplyKey[],
  now: number,
): Promise<ReadonlyMap<string, StoredReply>> {
  if (asked.length === 0) return new Map();
  const keys = asked.map(({ scope, key, item = WHOLE_CALL }) => ({
    workspace_id: scope.workspaceId,
    livemode: scope.livemode,
    key,
    item,
  }));
  const rows = await database.query<ReplyRow>(READ, [
    JSON.stringify(keys),
    new Date(now - REPLY_KEPT_MS).toISOString(),
  ]);
  return new Map(
    rows.map((row) => [
      replyKey({ ...row, scope: { workspaceId: row.workspace_id, livemode: row.livemode } }),
      { outcome: 'replayed', fingerprint: row.fingerprint, status: row.status, reply: row.reply },
    ]),
  );
}

/** Reads the stored reply of one key; null when there is none. */
export async function storedReplyOf(
  database: Database,
  asked: ReplyKey,
  now: number,
): Promise<StoredReply | null> {
  return (await storedReplies(database, [asked], now)).get(replyKey(asked)) ?? null;
}

/**
 * True when a write with a claim that was refused as a duplicate may find a reply when it is decided again,
 * because another instance has taken the key since. When another constraint is violated (the name of a
 * domain), the first call with the same key may be the cause, which the second decision sees; after that the
 * error is the call's own.
 */
export const mayBeRepetition = (error: unknown, looks: number): boolean =>
  isDuplicate(error, 'idempotency_keys_pkey') || (looks === 0 && isDuplicate(error));

/** The columns of a stored reply, in the order in which `replyParameters` gives them, with their types. */
const COLUMNS = ['workspace_id', 'livemode', 'key', 'item', 'fingerprint', 'status', 'created_at'] as const;
const TYPES = ['text', 'boolean', 'text', 'smallint', 'text', 'integer', 'timestamptz'] as const;

/**
 * The SQL that stores the reply of a request in the statement that does its work, for rows that are no
 * actors: a data-modifying CTE. `reply` is an expression over `from`, the CTE of the row; `first` is the
 * number of the first parameter. Without a key it inserts nothing.
 */
export function keepReplySql({ from, reply, first }: { from: string; reply: string; first: number }): string {
  const values = TYPES.map((type, index) => `$${first + index}::${type}`);
  return `insert into idempotency_keys (${COLUMNS.join(', ')}, reply)
  select ${values.join(', ')}, ${reply} from ${from} where ${values[2]} is not null`;
}

/**
 * The members of a request that its reply is stored with: its owner, its key if it has one, and its time
 * (epoch ms).
 */
export interface KeyedRequest {
  readonly scope: ReplyKey['scope'];
  readonly claim: (Pick<ReplyKey, 'key' | 'item'> & { readonly fingerprint: string }) | null;
  readonly now: number;
}

/** The parameters of `keepReplySql`; `status` is the HTTP status that a repetition is answered with. */
export const replyParameters = ({ scope, claim, now }: KeyedRequest, status: number): Parameter[] => [
  scope.workspaceId,
  scope.livemode,
  claim?.key ?? null,
  claim?.item ?? WHOLE_CALL,
  claim?.fingerprint ?? null,
  status,
  new Date(now).toISOString(),
];

const KEEP = `with answered as (select $8::text as reply)
${keepReplySql({ from: 'answered', reply: 'reply', first: 1 })}
on conflict (workspace_id, livemode, key, item) do update set reply = excluded.reply
where idempotency_keys.fingerprint = excluded.fingerprint`;

/**
 * Stores the reply of a request when it is known only after the work: a key that was written with the work
 * gets the reply, and a key that was not is written.
 */
export async function keepReply(
  database: Database,
  keyed: KeyedRequest,
  status: number,
  body: unknown,
): Promise<void> {
  if (keyed.claim) await database.query(KEEP, [...replyParameters(keyed, status), JSON.stringify(body)]);
}

const REPLACE = `update idempotency_keys set reply = $5
where workspace_id = $1 and livemode = $2::boolean and key = $3 and item = $4::smallint`;

/**
 * Replaces the reply that a request was stored with, for one that has become more since; does nothing without
 * a key. @throws UnavailableError
 */
export async function replaceReply(
  database: Database,
  { scope, claim }: KeyedRequest,
  reply: string,
): Promise<void> {
  if (!claim) return;
  const { key, item = WHOLE_CALL } = claim;
  await database.query(REPLACE, [scope.workspaceId, scope.livemode, key, item, reply]);
}
