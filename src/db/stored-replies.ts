import type { Database, Parameter } from './database.ts';
import { isDuplicate } from './sqlstate.ts';

/** A key as it is looked up: keys of two workspaces, or of the two environments of one, never meet. */
export interface ReplyKey {
  readonly scope: { readonly workspaceId: string; readonly livemode: boolean };
  readonly key: string;
  /** One of the things that the call asks for, by its number; the call as a whole when left out. */
  readonly item?: number | undefined;
}

/** The number that stands for a call as a whole. */
export const WHOLE_CALL = -1;

/** The stored reply of an idempotency key that was used before. */
export interface StoredReply {
  readonly outcome: 'replayed';
  readonly fingerprint: string;
  readonly status: number;
  readonly reply: string;
}

/** A reply is kept for 24 hours. */
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

/** One text for a key and item within its scope. */
export const replyKey = ({ scope, key, item = WHOLE_CALL }: ReplyKey): string =>
  `${scope.workspaceId} ${scope.livemode} ${item} ${key}`;

/** The stored replies of these keys, by `replyKey`; what has passed its 24 hours is removed on the way. */
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

/** The stored reply of one key; null when there is none. */
export async function storedReplyOf(
  database: Database,
  asked: ReplyKey,
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

/** The columns of a stored reply, in the order in which `replyParameters` gives them, with their types. */
const COLUMNS = ['workspace_id', 'livemode', 'key', 'item', 'fingerprint', 'status', 'created_at'] as const;
const TYPES = ['text', 'boolean', 'text', 'smallint', 'text', 'integer', 'timestamptz'] as const;

/**
 * SQL of an insert that keeps the reply of a request in the statement that does what was asked, for rows that are no actors: a
 * data-modifying CTE. `reply` is an expression over `from`, the CTE of the row; `first` the number of the first parameter.
 * Without a key it inserts nothing.
 */
export function keepReplySql({ from, reply, first }: { from: string; reply: string; first: number }): string {
  const values = TYPES.map((type, index) => `$${first + index}::${type}`);
  return `insert into idempotency_keys (${COLUMNS.join(', ')}, reply)
  select ${values.join(', ')}, ${reply} from ${from} where ${values[2]} is not null`;
}

/** A request as its reply is stored: whose it is, its key if it has one, and when it came (epoch ms). */
export interface Keyed {
  readonly scope: ReplyKey['scope'];
  readonly claim: (Pick<ReplyKey, 'key' | 'item'> & { readonly fingerprint: string }) | null;
  readonly now: number;
}

/** The parameters of `keepReplySql`; `status` is the HTTP status that a repetition is answered with. */
export const replyParameters = ({ scope, claim, now }: Keyed, status: number): Parameter[] => [
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
 * Keeps what a request is answered, where that is known only after its work was done: a key that was written with the work gets
 * the reply, one that was not is written.
 */
export async function keepReply(
  database: Database,
  keyed: Keyed,
  status: number,
  body: unknown,
): Promise<void> {
  if (keyed.claim) await database.query(KEEP, [...replyParameters(keyed, status), JSON.stringify(body)]);
}
