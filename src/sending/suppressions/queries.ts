import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import { WEAKEST_REASON } from '../../../machines/email/rules.ts';
import { pageOf, positionOf } from '../../http/lists/pagination.ts';
import { type Call, Page } from '../../http/request/route.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { type Database, PREPARED } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { suppressions } from '../../platform/db/schema/mail.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { type SuppressionQuery, type SuppressionRow, type SuppressionView, viewOf } from './model.ts';

// biome-ignore lint/performance/noBarrelFile: two names, beside the queries themselves.
export {
  ACT_OF_SUPPRESSION,
  ACT_WORDS,
  type Act,
  actSql,
  audienceActSql,
  hasLeftSql,
  isBeingForgottenSql,
  type LiveContact,
  type OwnLeaving,
  readActs,
} from './acts.ts';
export { contactOfSql, contactsLeaveSql, strength } from './contacts-leave.ts';
export { noteRemovalSql, removalParameters } from './ses-removals.ts';

/** SQL: whether the entered reason replaces the known one. The first reason stays, unless it is the weakest. */
export const replacesReason = (known: string, entered: string): string =>
  `${known}.reason = '${WEAKEST_REASON}' and ${entered}.reason <> '${WEAKEST_REASON}'`;

/**
 * The hash by which a forgotten address is recognised, which only SECRET_KEY can make: addresses are few
 * enough to be guessed, so that a hash without a key would not hide them. `key` is `Address.key`.
 */
export const forgottenKey = (signer: Signer, workspaceId: string, key: string): string =>
  `forgotten:${signer.hash('forgotten address', `${workspaceId} ${key}`).toString('base64url')}`;

const POSITION = /^([12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (.+)$/;

/** True when a position is one that PostgreSQL can read: 30 February would be an error there. */
const isPosition = (text: string): boolean => {
  const [, at = ''] = POSITION.exec(text) ?? [];
  const moment = new Date(at);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().slice(0, 23) === at.slice(0, 23);
};

/** The services that listing suppressions calls. */
export interface SuppressionLister {
  readonly reads: Reads;
  readonly signer: Signer;
}

/** The addresses that get no more live mail. Test mail is suppressed by nothing, so a test key sees none. */
export async function listSuppressions(
  { reads, signer }: SuppressionLister,
  { caller, query }: Call<unknown, SuppressionQuery>,
): Promise<Page<SuppressionView> | Failure> {
  const request = { list: 'suppressions', caller, isPosition, query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const address = query.address === undefined ? null : parseAddress(query.address);
  if (address && isProblem(address)) return invalid([{ path: '/query/address', message: address.problem }]);
  if (!caller.livemode) return new Page([], { hasMore: false, nextCursor: null });
  const [, from = null, key = null] = POSITION.exec(after ?? '') ?? [];
  const { workspaceId, addressKey, reason, createdAt } = suppressions;
  const rows = await reads.read((orm) =>
    orm
      .select({
        ...{ address: suppressions.address, reason, emailId: suppressions.emailId, createdAt },
        // The time of the row to the microsecond, which a Date does not have, and its key.
        position: sql<string>`to_char(${createdAt} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
          || ' ' || ${addressKey}`,
      })
      .from(suppressions)
      .where(
        and(
          eq(workspaceId, caller.workspaceId),
          from === null ? undefined : sql`(${createdAt}, ${addressKey}) < (${from}::timestamptz, ${key})`,
          query.reason === undefined ? undefined : eq(reason, query.reason),
          address === null
            ? undefined
            : inArray(addressKey, [address.key, forgottenKey(signer, caller.workspaceId, address.key)]),
        ),
      )
      .orderBy(desc(createdAt), desc(addressKey))
      .limit(query.limit + 1),
  );
  return pageOf(
    request,
    rows,
    ({ position }) => position,
    ({ emailId, createdAt: at, ...row }) => viewOf({ ...row, email_id: emailId, created_at: at.getTime() }),
  );
}

/**
 * The reason why an address gets no live mail, also when only its hash is kept; null when it does. `key` is
 * `Address.key`.
 */
export async function reasonOf(
  { database, signer }: { readonly database: Database; readonly signer: Signer },
  workspaceId: string,
  key: string,
): Promise<SuppressionRow['reason'] | null> {
  const hash = forgottenKey(signer, workspaceId, key);
  const [row] = await database.read(
    (orm) =>
      orm
        .select({ reason: suppressions.reason })
        .from(suppressions)
        .where(and(eq(suppressions.workspaceId, workspaceId), inArray(suppressions.addressKey, [key, hash])))
        .orderBy(eq(suppressions.reason, WEAKEST_REASON))
        .limit(1),
    PREPARED,
  );
  return row?.reason ?? null;
}

const OF_MANY = `select address_key from suppressions
where workspace_id = $1 and address_key = any($2::text[] collate "C") and reason <> 'manual'`;

/**
 * The keys and hashes among these whose addresses have left, bounced or complained.
 * @throws UnavailableError
 */
export async function leftKeys(
  database: Database,
  workspaceId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ address_key: string }>(OF_MANY, [workspaceId, keys]);
  return new Set(rows.map(({ address_key }) => address_key));
}
