import type { Database } from '../../db/database.ts';
import { type Failure, invalid, notFound } from '../../http/failure.ts';
import type { Call } from '../../http/route.ts';
import { isProblem, parseAddress } from '../emails/queries.ts';
import type { SuppressionView } from './model.ts';
import { type SuppressionRow, viewOf } from './views.ts';

/** What changing suppressions needs. */
export interface SuppressionCommands {
  readonly database: Database;
}

/** An address that is to get no more mail. */
export interface ToSuppress {
  readonly workspaceId: string;
  /** As parseAddress reads it. */
  readonly address: string;
  readonly reason: 'unsubscribed' | 'manual';
  readonly emailId: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The first reason stays, but for one that only keeps lists away: any other is the stronger. */
const SUPPRESS = `with entry as (
  insert into suppressions as s (workspace_id, address_key, address, reason, email_id, created_at)
  values ($1, $2, $3, $4, $5, $6::timestamptz)
  on conflict (workspace_id, address_key) do update
    set reason = excluded.reason, email_id = excluded.email_id, created_at = excluded.created_at
    where s.reason = 'unsubscribed' and excluded.reason <> 'unsubscribed'
  returning address, reason, email_id, created_at
)
select address, reason, email_id, (extract(epoch from created_at) * 1000)::float8 as created_at from entry
union all
select address, reason, email_id, (extract(epoch from created_at) * 1000)::float8 from suppressions
where workspace_id = $1 and address_key = $2 and not exists (select from entry)`;

const FORGET = `delete from suppressions where workspace_id = $1 and address_key = $2 returning address`;

/** Keeps mail from an address; null when it is none. Doing so again changes nothing. @throws Unavailable */
export async function suppress(
  database: Database,
  { workspaceId, address, reason, emailId, at }: ToSuppress,
): Promise<SuppressionView | null> {
  const read = parseAddress(address);
  if (isProblem(read)) return null;
  const parameters = [workspaceId, read.key, read.address, reason, emailId, new Date(at).toISOString()];
  const [row] = await database.query<SuppressionRow>(SUPPRESS, parameters);
  return row ? viewOf(row) : null;
}

/** Suppresses an address by hand. */
export async function suppressAddress(
  { database }: SuppressionCommands,
  { caller: { workspaceId }, body, now }: Call<unknown, unknown, { readonly address: string }>,
): Promise<SuppressionView | Failure> {
  const read = parseAddress(body.address);
  if (isProblem(read)) return invalid([{ path: '/body/address', message: read.problem }]);
  const { address } = read;
  const entry = await suppress(database, { workspaceId, address, reason: 'manual', emailId: null, at: now });
  return entry ?? notFound('suppression');
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
