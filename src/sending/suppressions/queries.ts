import { and, asc, desc, eq, gt, gte, inArray, isNotNull, lt, lte, or, sql } from 'drizzle-orm';
import { type SuppressionReason, WEAKEST_REASON } from '../../../machines/email/rules.ts';
import { search } from '../../http/lists/bounded-search.ts';
import { type CountView, countSql, readCount } from '../../http/lists/count.ts';
import type { FilterOf } from '../../http/lists/list.ts';
import { positionOf, searchPageOf } from '../../http/lists/pagination.ts';
import { type Call, Page } from '../../http/request/route.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { type Database, PREPARED } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import { suppressions } from '../../platform/db/schema/mail.ts';
import { Failure, invalidAt } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { forgottenKey } from './forgotten-recipients.ts';
import { type SuppressionQuery, type SuppressionRow, type SuppressionView, viewOf } from './model.ts';
import { learnedStatusSql, unsubscribedAtSql } from './reasons.ts';

// biome-ignore lint/performance/noBarrelFile: some names, beside the queries themselves.
export {
  ACT_OF_STATUS,
  ACT_OF_SUPPRESSION,
  ACT_WORDS,
  type Act,
  actSql,
  audienceActSql,
  EARLIER_CONTACT,
  hasLeftEverythingSql,
  hasLeftSql,
  isBeingForgottenSql,
  isKnownBeforeSql,
  isUnsubscribedLastSql,
  type LiveContact,
  lastLeavingSql,
  lastUnsubscriptionSql,
  leftAudiencesSql,
  leftByWorkspaceSql,
  leftListActSql,
  type OwnLeaving,
  readActs,
} from './acts.ts';
export { contactOfSql, contactsLeaveSql, strength } from './contacts-leave.ts';
export { forgottenHash, forgottenKey, forgottenRecipient } from './forgotten-recipients.ts';
export { findKnownAgain } from './known-again.ts';
export {
  enterReasonSql,
  learnedAtSql,
  learnedStatusSql,
  removeReasonSql,
  TOLD_TO_SES,
  unsubscribedAtSql,
} from './reasons.ts';
export { noteRemovalSql, removalParameters } from './ses-removals.ts';

const POSITION = /^([12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (.+)$/;

/** True for the key of an address, or for the hash of a forgotten one. */
const isKey = (text: string): boolean => text.length <= 400;

/** True when a position by time is one that PostgreSQL can read: 30 February would be an error there. */
const isMoment = (text: string): boolean => {
  const [, at = ''] = POSITION.exec(text) ?? [];
  const moment = new Date(at);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().slice(0, 23) === at.slice(0, 23);
};

/** The services that listing suppressions calls. */
export interface SuppressionLister {
  readonly reads: Reads;
  readonly signer: Signer;
}

/** True for a suppression with the reason, be it the one that counts or an act of the person beside it. */
function hasReason(reason: SuppressionReason) {
  const beside = { unsubscribed: suppressions.unsubscribedAt, complained: suppressions.complainedAt };
  const isReason = eq(suppressions.reason, reason);
  return reason === 'unsubscribed' || reason === 'complained'
    ? or(isReason, isNotNull(beside[reason]))
    : isReason;
}

/** The most suppressions that one request looks at for a reason, which no index has in either order. */
const MOST_SEARCHED = 10_000;

/** The addresses that get no more live mail. Test mail is suppressed by nothing, so a test key sees none. */
export async function listSuppressions(
  { reads, signer }: SuppressionLister,
  { caller, query }: Call<unknown, SuppressionQuery>,
): Promise<Page<SuppressionView> | Failure> {
  const { sort = '-createdAt', limit } = query;
  const isByAddress = sort === 'address' || sort === '-address';
  const request = { list: 'suppressions', caller, isPosition: isByAddress ? isKey : isMoment, query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const address = query.address === undefined ? null : parseAddress(query.address);
  if (address && isProblem(address)) return invalidAt('/query/address', address.problem);
  if (!caller.livemode) return new Page([], { hasMore: false, nextCursor: null });
  const keys = address && [address.key, forgottenKey(signer, caller.workspaceId, address.key)];
  const order = orderOf(isByAddress, sort.startsWith('-'));
  const rowsUntil = (end: string | null) =>
    reads.read((orm) =>
      orm
        .select({ ...SHOWN, position: order.position })
        .from(suppressions)
        .where(
          and(
            eq(suppressions.workspaceId, caller.workspaceId),
            after === null ? undefined : order.beyond(after),
            end === null ? undefined : order.until(end),
            query.reason === undefined ? undefined : hasReason(query.reason),
            keys === null ? undefined : inArray(suppressions.addressKey, keys),
          ),
        )
        .orderBy(...order.by)
        .limit(limit + 1),
    );
  const nth = async (count: number) => {
    const [row] = await reads.read((orm) =>
      orm
        .select({ position: order.position })
        .from(suppressions)
        .where(
          and(
            eq(suppressions.workspaceId, caller.workspaceId),
            after === null ? undefined : order.beyond(after),
          ),
        )
        .orderBy(...order.by)
        .limit(1)
        .offset(count - 1),
    );
    return row?.position ?? null;
  };
  const isFound = query.reason === undefined || keys !== null;
  const { rows, stoppedAt } = isFound
    ? { rows: await rowsUntil(null), stoppedAt: null }
    : await search({ nth, rowsUntil }, limit, MOST_SEARCHED);
  return searchPageOf(
    request,
    rows,
    ({ position }) => position,
    ({ emailId, createdAt: at, ...row }) => viewOf({ ...row, email_id: emailId, created_at: at.getTime() }),
    stoppedAt,
  );
}

const { addressKey, createdAt } = suppressions;
const SHOWN = {
  address: suppressions.address,
  reason: suppressions.reason,
  emailId: suppressions.emailId,
  createdAt,
  complained: sql<boolean>`${suppressions.complainedAt} is not null`,
  unsubscribed: sql<boolean>`${suppressions.unsubscribedAt} is not null`,
};

/** An order of the list, with the position of a row in it and the rows on either side of one. */
function orderOf(isByAddress: boolean, isDescending: boolean) {
  const [beyond, until, inOrder] = isDescending ? ([lt, gte, desc] as const) : ([gt, lte, asc] as const);
  if (isByAddress)
    return {
      position: sql<string>`${addressKey}`,
      beyond: (position: string) => beyond(addressKey, position),
      until: (position: string) => until(addressKey, position),
      by: [inOrder(addressKey)],
    };
  const place = sql`(${createdAt}, ${addressKey})`;
  const placeOf = (position: string) => {
    const [, at = '', key = ''] = POSITION.exec(position) ?? [];
    return sql`(${at}::timestamptz, ${key})`;
  };
  return {
    // The time of the row to the microsecond, which a Date does not have, and its key.
    position: sql<string>`to_char(${createdAt} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || ${addressKey}`,
    beyond: (position: string) => beyond(place, placeOf(position)),
    until: (position: string) => until(place, placeOf(position)),
    by: [inOrder(createdAt), inOrder(addressKey)],
  };
}

export type SuppressionFilter = FilterOf<SuppressionQuery>;

const NONE: CountView = { count: 0, isExact: true };
const COUNT = countSql(
  `select * from suppressions where workspace_id = $1 and ($2::text[] is null or address_key = any($2 collate "C"))
  order by created_at desc, address_key desc`,
  's',
  `$3::text is null or reason = $3 or $3 = 'unsubscribed' and unsubscribed_at is not null or $3 = 'complained' and complained_at is not null`,
);

export async function countSuppressions(
  { reads, signer }: SuppressionLister,
  { caller, query }: Call<unknown, SuppressionFilter>,
): Promise<CountView | Failure> {
  const address = query.address === undefined ? null : parseAddress(query.address);
  if (address && isProblem(address)) return invalidAt('/query/address', address.problem);
  if (!caller.livemode) return NONE;
  const keys = address && [address.key, forgottenKey(signer, caller.workspaceId, address.key)];
  return readCount(reads, COUNT, [caller.workspaceId, keys, query.reason ?? null]);
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

const UNSUBSCRIBED = `select 1 as one from suppressions s
where s.workspace_id = $1 and s.address_key in ($2, $3) and ${unsubscribedAtSql('s')} is not null limit 1`;

/**
 * True when the person has unsubscribed, also beneath another reason. `key` is `Address.key`. @throws
 * UnavailableError
 */
export async function hasUnsubscribed(
  { database, signer }: { readonly database: Database; readonly signer: Signer },
  workspaceId: string,
  key: string,
): Promise<boolean> {
  const hash = forgottenKey(signer, workspaceId, key);
  return (await database.query(UNSUBSCRIBED, [workspaceId, key, hash])).length > 0;
}

const OF_MANY = `select address_key from suppressions s
where workspace_id = $1 and address_key = any($2::text[] collate "C") and ${learnedStatusSql('s')} is not null`;

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
