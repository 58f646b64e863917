import { and, eq, ne, sql } from 'drizzle-orm';
import type { DomainContext } from '../../../machines/domain/context.ts';
import type { DomainState } from '../../../machines/domain/machine.ts';
import { decidedFor, stateList, statesWhere } from '../../engine/machine/kind.ts';
import type { Principal } from '../../http/auth/principal.ts';
import { inOrder, listById, withinRange } from '../../http/lists/list.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { SigningKey } from '../../mail/dkim/signing-key.ts';
import type { DmarcPolicy } from '../../mail/dns/dmarc.ts';
import type { Transport } from '../../mail/transport/transport.ts';
import type { WarmUp } from '../../mail/transport/warm-up.ts';
import type { EnabledTransports } from '../../platform/config/transport-names.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import { domains, domainTransports } from '../../platform/db/schema/domains.ts';
import type { Failure } from '../../platform/errors/failure.ts';
import type { DomainQuery, DomainView } from './model.ts';
import { openKeys, type SealedKeys } from './records/keys.ts';
import { knownPolicy } from './records/known-policy.ts';
import { withParents } from './records/name.ts';
import type { DnsSetup, Slot } from './records/records.ts';
import { type DomainRow, viewOf, type WarmUpDay } from './views.ts';

export { withParents };

export interface DomainReader {
  readonly database: Database;
  readonly setup: DnsSetup;
}

/**
 * Reads the keys in the statement that reads the domain, so that the keys and the status of their records are
 * consistent.
 */
const KEY_SETS = `(select coalesce(json_agg(json_build_object('selector', k.selector, 'stage', k.stage,
    'since', (extract(epoch from k.since) * 1000)::float8, 'rsaValue', k.rsa_value, 'ed25519Value', k.ed25519_value)
    order by array_position(array['pending', 'active', 'retired'], k.stage), k.since desc), '[]') from domain_keys k where k.domain_id = domains.id)::text`;

/** The present day of its warm-ups, with the claims on it. */
export const WARM_UP_DAY = `(select json_build_object('date', t.day, 'claimed', coalesce((select json_object_agg(w.provider, w.claimed)
    from warm_up_days w where w.domain_id = domains.id and w.day = t.day), '{}'))
  from (select (clock_timestamp() at time zone 'UTC')::date as day) t)`;

/** SQL: true while a domain has a route of received mail. Test mail comes by no MX. */
export const receivesSql = (domain: string): string =>
  `exists (select from inbound_routes r where r.domain_name = ${domain}.name and r.livemode and r.domain_id = ${domain}.id)`;

const columns = {
  id: domains.id,
  state: domains.state,
  context: domains.context,
  name: domains.name,
  returnPath: domains.returnPath,
  trackingDomain: domains.trackingDomain,
  provider: domainTransports.provider,
  fallbacks: domainTransports.fallbacks,
  warmUps: domainTransports.warmUps,
  warmUpDay: sql<WarmUpDay>`${sql.raw(WARM_UP_DAY)}`,
  keySets: sql<string>`${sql.raw(KEY_SETS)}`,
  receives: sql<boolean>`${sql.raw(receivesSql('domains'))}`,
};

interface Columns {
  readonly context: unknown;
  readonly provider: string | null;
  readonly fallbacks: readonly string[] | null;
  readonly warmUps: unknown;
  readonly keySets: string;
}

/** Gives the columns their types, which the checks of the table and the machine guarantee. */
const rowOf = <Read extends Columns>(row: Read) => ({
  ...row,
  keySets: JSON.parse(row.keySets) as DomainRow['keySets'],
  context: row.context as DomainContext,
  provider: row.provider as DomainRow['provider'],
  fallbacks: (row.fallbacks ?? []) as DomainRow['fallbacks'],
  warmUps: (row.warmUps ?? []) as DomainRow['warmUps'],
});

/** The conditions of a caller's domains: both environments share them, and removed ones are not visible. */
const visibleTo = ({ workspaceId }: Principal) => [
  eq(domains.workspaceId, workspaceId),
  ne(domains.state, 'removed'),
];

/** Reads the row of a domain of the caller's workspace. */
export async function readDomain(
  database: Database,
  caller: Principal,
  id: string,
): Promise<DomainRow | null> {
  const [row] = await database.read((orm) =>
    orm
      .select(columns)
      .from(domains)
      .leftJoin(domainTransports, eq(domainTransports.domainId, domains.id))
      .where(and(eq(domains.id, id), ...visibleTo(caller))),
  );
  return row ? rowOf(row) : null;
}

/** Reads a domain of the caller's workspace as clients see it. */
export async function findDomain(
  { database, setup }: DomainReader,
  caller: Principal,
  id: string,
): Promise<DomainView | null> {
  const row = await readDomain(database, caller, id);
  return row && viewOf(row, setup);
}

/** Lists the domains of the caller's workspace, newest first. */
export function listDomains(
  { database, setup }: DomainReader,
  call: Call<unknown, DomainQuery>,
): Promise<Page<DomainView> | Failure> {
  return listById(call, {
    list: 'domains',
    prefix: 'dom',
    rows: (range, limit) =>
      database.read((orm) =>
        orm
          .select(columns)
          .from(domains)
          .leftJoin(domainTransports, eq(domainTransports.domainId, domains.id))
          .where(and(...visibleTo(call.caller), ...withinRange(domains.id, range)))
          .orderBy(inOrder(domains.id, range))
          .limit(limit),
      ),
    item: (row) => viewOf(rowOf(row), setup),
  });
}

/** The parts of a domain that sending uses. */
export interface SendingDomain {
  readonly id: string;
  readonly name: string;
  /** True while the domain is proven: `verified` or `temporaryFailure`. */
  readonly maySend: boolean;
  /** True when the owner has removed it since the email was accepted, which fails with `domain_removed`. */
  readonly removed: boolean;
  /** True while its workspace is archived, which sends nothing. */
  readonly archived: boolean;
  readonly openTracking: boolean;
  readonly clickTracking: boolean;
  /** The domain's tracking host once the record is in DNS; null for the service's. */
  readonly trackingDomain: string | null;
  /** The host of its envelope senders once the records are in DNS; null until then. */
  readonly returnPath: string | null;
  /** The chosen transport; null for the default one. */
  readonly provider: Transport['name'] | null;
  /** The transports that take over while that one is down, as they were chosen. */
  readonly fallbacks: readonly Transport['name'][];
  /** The warm-ups of its mail, at most one for each transport. */
  readonly warmUps: readonly WarmUp[];
  /** Null for a removed domain, whose keys are deleted. */
  readonly keys: SealedKeys | null;
}

interface SendingRow {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly context: DomainContext;
  readonly selector: string | null;
  readonly return_path: string;
  readonly tracking_domain: string | null;
  readonly rsa: string | null;
  readonly ed25519: string | null;
  readonly provider: Transport['name'] | null;
  readonly fallbacks: readonly Transport['name'][] | null;
  readonly warm_ups: readonly WarmUp[] | null;
  readonly archived: boolean;
}

const sending = (archived: string) => `select d.id, d.name, d.state, d.context, k.selector, d.return_path,
  d.tracking_domain, k.rsa, k.ed25519, t.provider, t.fallbacks, t.warm_ups, ${archived} as archived
from domains d left join domain_keys k on k.domain_id = d.id and k.stage = 'active'
  left join domain_transports t on t.domain_id = d.id`;

/** The states of a domain from which live mail may be sent. */
const MAY_SEND: Readonly<Record<DomainState, boolean>> = {
  pending: false,
  verified: true,
  temporaryFailure: true,
  failed: false,
  removed: false,
};
/** SQL: true while a domain is proven. */
export const maySendSql = (domain: string): string =>
  `${domain}.state in (${stateList(statesWhere(MAY_SEND))})`;
const SENDS = maySendSql('d');

/** The name of a domain of the caller's workspace; null where it has none with that id. */
export async function findDomainName(
  database: Database,
  caller: Principal,
  id: string,
): Promise<string | null> {
  const [row] = await database.read((orm) =>
    orm
      .select({ name: domains.name })
      .from(domains)
      .where(and(eq(domains.id, id), ...visibleTo(caller))),
  );
  return row?.name ?? null;
}

/** Acceptance checks beforehand that the workspace is not archived. */
const SENDING = sending('false');

/** Takes the nearest domain: an address's own one before its parents. */
const BY_NAME = `${SENDING} where d.workspace_id = $1 and d.name = any($2::text[])
  and ${SENDS} order by length(d.name) desc limit 1`;
const OF_ARCHIVED = '(select w.archived_at is not null from workspaces w where w.id = d.workspace_id)';
const BY_ID = `${sending(OF_ARCHIVED)} where d.id = $1`;
const REPLACEMENT = `${sending(OF_ARCHIVED)} join domains gone on gone.id = $1
  and gone.workspace_id = d.workspace_id and gone.name = d.name
where ${SENDS} limit 1`;

/**
 * Finds the verified domain that covers an address at `name` (lower-case ASCII): that name itself, or its
 * nearest parent. The owner of example.com can also set records for mail.example.com, and its signature is
 * aligned for DMARC (relaxed, RFC 7489 3.1.1). A verified subdomain never covers its parents. @throws
 * UnavailableError
 */
export async function findSendingDomain(
  database: Database,
  workspaceId: string,
  name: string,
): Promise<SendingDomain | null> {
  const [row] = await database.query<SendingRow>(BY_NAME, [workspaceId, withParents(name)]);
  return row ? sendingOf(row) : null;
}

/** Reads the present state of the domain that an email was accepted for. @throws UnavailableError */
export async function findDomainOfEmail(database: Database, domainId: string): Promise<SendingDomain | null> {
  const [row] = await database.query<SendingRow>(BY_ID, [domainId]);
  return row ? sendingOf(row) : null;
}

/** A domain that its workspace has proven. */
export interface VerifiedDomain {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
}

const VERIFIED = `select d.id, d.workspace_id as "workspaceId", d.name from domains d where ${SENDS}`;

/**
 * Finds the proven domains that a host belongs to, by their name or their return path, in every workspace.
 * @throws UnavailableError
 */
export const verifiedAtHost = (database: Database, host: string): Promise<readonly VerifiedDomain[]> =>
  database.query<VerifiedDomain>(
    `${VERIFIED} and (d.name = $1 or d.return_path = $1) order by d.id limit 100`,
    [host],
  );

/**
 * Finds the proven domains of these workspaces that have one of the names, or cover one. @throws
 * UnavailableError
 */
export const verifiedCovering = (
  database: Database,
  workspaceIds: readonly string[],
  names: readonly string[],
): Promise<readonly VerifiedDomain[]> =>
  database.query<VerifiedDomain>(
    `${VERIFIED} and d.workspace_id = any($1::text[]) and d.name = any($2::text[])`,
    [workspaceIds, [...new Set(names.flatMap(withParents))]],
  );

/** The facts about a domain that its reports are judged by. */
export interface ReportedDomain {
  /** The host of its report addresses: its return path receives mail here. */
  readonly host: string;
  /** The DMARC policy that its latest check found. */
  readonly policy: DmarcPolicy | null;
}

/** The facts about a domain of the caller's workspace; null where there is no such domain. */
export async function findReportedDomain(
  database: Database,
  caller: Principal,
  id: string,
): Promise<ReportedDomain | null> {
  const row = await readDomain(database, caller, id);
  return row && { host: row.returnPath, policy: knownPolicy(row.name, row.context.records) };
}

/**
 * Finds the proven domain that was added under the name of a removed one, in the same workspace. @throws
 * UnavailableError
 */
export async function findReplacement(database: Database, removedId: string): Promise<SendingDomain | null> {
  const [row] = await database.query<SendingRow>(REPLACEMENT, [removedId]);
  return row ? sendingOf(row) : null;
}

/** Finds any domain that may send by that transport, in any workspace: for the checks of the operator. */
export async function findAnySendingDomain(
  database: Database,
  transport: Transport['name'],
  isDefault: boolean,
): Promise<SendingDomain | null> {
  const [row] = await database.query<SendingRow>(
    `${SENDING} where ${SENDS} and (t.provider = $1 or t.provider is null and $2::boolean)
    order by d.id limit 1`,
    [transport, isDefault],
  );
  return row ? sendingOf(row) : null;
}

/** A transport that domains have chosen although it is not enabled: their mail is held. */
export interface MissingTransport {
  readonly provider: string;
  readonly domains: number;
  /** The first five of the domains. */
  readonly names: readonly string[];
}

/** Finds the transports that existing domains have chosen and that are not enabled. */
export const missingTransports = (
  database: Database,
  enabled: EnabledTransports,
): Promise<readonly MissingTransport[]> =>
  database.query<MissingTransport>(
    `select t.provider, count(*)::integer as domains, (array_agg(d.name order by d.id))[1:5] as names
    from domain_transports t join domains d on d.id = t.domain_id
    where d.state <> 'removed' and t.provider <> all ($1::text[]) group by t.provider order by t.provider`,
    [enabled],
  );

/** The keys of any domain, to test SECRET_KEY with; null when there are none, or no schema yet. */
export async function anySealedKeys(database: Database): Promise<SealedKeys | null> {
  const [schema] = await database.query<{ there: boolean }>(
    `select to_regclass('domain_keys') is not null as there`,
  );
  if (!schema?.there) return null;
  const [row] = await database.query<SendingRow>(
    `${SENDING} where d.state <> 'removed' order by d.id limit 1`,
  );
  return row ? sendingOf(row).keys : null;
}

function sendingOf(row: SendingRow): SendingDomain {
  const { id, name, state, context, selector, rsa, provider } = row;
  const isVerified = (which: Slot): boolean =>
    context.records.some(({ slot, status }) => slot === which && status === 'verified');
  const ed25519 = isVerified('dkimEd25519') ? row.ed25519 : null;
  return {
    id,
    name,
    maySend: decidedFor(MAY_SEND, state),
    removed: state === 'removed',
    archived: row.archived,
    openTracking: context.openTracking,
    clickTracking: context.clickTracking,
    trackingDomain: isVerified('tracking') ? row.tracking_domain : null,
    returnPath: isVerified('returnPath') || (isVerified('spf') && isVerified('mx')) ? row.return_path : null,
    provider,
    fallbacks: row.fallbacks ?? [],
    warmUps: row.warm_ups ?? [],
    keys: rsa === null || selector === null ? null : { domainId: id, domain: name, selector, rsa, ed25519 },
  };
}

/**
 * Opens and checks the keys that sign for a domain: RSA, and Ed25519 once its record is in DNS. It takes some
 * milliseconds, so callers keep the result as long as `keys` is the same. @throws UnusableKey, or when
 * SECRET_KEY has changed
 */
export const signingKeys = (sealer: Pick<Sealer, 'open'>, keys: SealedKeys): readonly SigningKey[] =>
  openKeys(sealer, keys);
