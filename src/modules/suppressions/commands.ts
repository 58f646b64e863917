import type { SuppressionReason } from '../../../machines/email-rules.ts';
import type { Database } from '../../db/database.ts';
import { isDuplicate } from '../../db/sqlstate.ts';
import { storedReplyOf } from '../../engine/stored-replies.ts';
import { type Failure, invalid, notFound } from '../../http/failure.ts';
import { replayOf } from '../../http/idempotency.ts';
import type { Call, IdempotencyClaim, Replay } from '../../http/route.ts';
import { isProblem, parseAddress } from '../emails/queries.ts';
import type { SuppressionView } from './model.ts';
import { type SuppressionRow, viewOf } from './views.ts';

/** What changing suppressions needs. */
export interface SuppressionCommands {
  readonly database: Database;
}

/** What adding one is answered with, the first time and again. */
const CREATED = 201;

/** An address that is to get no more mail. */
export interface ToSuppress {
  readonly workspaceId: string;
  /** As parseAddress reads it. */
  readonly address: string;
  readonly reason: SuppressionReason | 'manual';
  readonly emailId: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The first reason stays, but for one that only keeps lists away: any other is the stronger. */
const IS_STRONGER = `s.reason = 'unsubscribed' and excluded.reason <> 'unsubscribed'`;

/** The claim of an Idempotency-Key, where there is one, is written with the entry, and keeps the row that is answered. */
const SUPPRESS = `with entry as (
  insert into suppressions as s (workspace_id, address_key, address, reason, email_id, created_at)
  values ($1, $2, $3, $4, $5, $6::timestamptz)
  on conflict (workspace_id, address_key) do update set
    reason = case when ${IS_STRONGER} then excluded.reason else s.reason end,
    email_id = case when ${IS_STRONGER} then excluded.email_id else s.email_id end,
    created_at = case when ${IS_STRONGER} then excluded.created_at else s.created_at end
  returning address, reason, email_id, (extract(epoch from created_at) * 1000)::float8 as created_at
), claimed as (
  insert into idempotency_keys (workspace_id, livemode, key, fingerprint, status, reply, created_at)
  select $1, true, $7::text, $8::text, ${CREATED}, row_to_json(entry)::text, $6::timestamptz
  from entry where $7::text is not null
)
select address, reason, email_id, created_at from entry`;

const FORGET = `delete from suppressions where workspace_id = $1 and address_key = $2 returning address`;

/**
 * Keeps mail from an address; null when it is none. Doing so again changes nothing. A live key's `claim` is taken in the
 * same statement. @throws Unavailable, or when the claim has been taken before
 */
export async function suppress(
  database: Database,
  { workspaceId, address, reason, emailId, at }: ToSuppress,
  claim: IdempotencyClaim | null = null,
): Promise<SuppressionView | null> {
  const read = parseAddress(address);
  if (isProblem(read)) return null;
  const [row] = await database.query<SuppressionRow>(SUPPRESS, [
    workspaceId,
    read.key,
    read.address,
    reason,
    emailId,
    new Date(at).toISOString(),
    claim?.key ?? null,
    claim?.fingerprint ?? null,
  ]);
  return row ? viewOf(row) : null;
}

type Suppressing = Call<unknown, unknown, { readonly address: string }>;

/** Suppresses an address by hand. */
export async function suppressAddress(
  { database }: SuppressionCommands,
  call: Suppressing,
): Promise<SuppressionView | Failure | Replay> {
  const { caller, body, claim, now } = call;
  const read = parseAddress(body.address);
  if (isProblem(read)) return invalid([{ path: '/body/address', message: read.problem }]);
  const repetition = await repetitionOf(database, call);
  if (repetition) return repetition;
  const { workspaceId } = caller;
  const entry = { workspaceId, address: read.address, reason: 'manual', emailId: null, at: now } as const;
  try {
    return (await suppress(database, entry, claim)) ?? notFound('suppression');
  } catch (error) {
    // Another instance has taken the key since it was looked for.
    const again = isDuplicate(error, 'idempotency_keys_pkey') ? await repetitionOf(database, call) : null;
    if (again) return again;
    throw error;
  }
}

/** What a repeated call is answered; null for a call that is new. */
async function repetitionOf(
  database: Database,
  { caller, claim, now }: Suppressing,
): Promise<Replay | Failure | null> {
  const stored = claim && (await storedReplyOf(database, { key: claim.key, scope: caller }, now));
  return stored ? replayOf(claim, stored, () => viewOf(JSON.parse(stored.reply) as SuppressionRow)) : null;
}

/** Lets mail reach an address again. */
export async function forgetSuppression(
  { database }: SuppressionCommands,
  { caller, params }: Call<{ readonly address: string }>,
): Promise<null | Failure> {
  const read = parseAddress(params.address);
  if (isProblem(read)) return notFound('suppression');
  const rows = await database.query(FORGET, [caller.workspaceId, read.key]);
  return rows.length > 0 ? null : notFound('suppression');
}
