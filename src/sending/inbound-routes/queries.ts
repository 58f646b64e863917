import { and, desc, eq } from 'drizzle-orm';
import type { Principal } from '../../http/auth/principal.ts';
import { listById, withinRange } from '../../http/lists/list.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Purpose } from '../../platform/crypto/sealed-columns.ts';
import { openOrNull, type Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import { inboundRoutes } from '../../platform/db/schema/received.ts';
import { type Failure, notFound } from '../../platform/errors/failure.ts';
import { maySendSql } from '../domains/queries.ts';
import type { RouteMatch } from './matching.ts';
import type { InboundRouteQuery, InboundRouteView } from './model.ts';

// biome-ignore lint/performance/noBarrelFile: other modules find the route of a recipient by these, beside the queries.
export { type Recipient, readRecipient } from './matching.ts';
export { NO_ROUTE, repliedEmailOf, takingRoute } from './taking-route.ts';

/** The services that reading routes calls. */
export interface RouteReader {
  readonly database: Database;
}

const columns = {
  id: inboundRoutes.id,
  livemode: inboundRoutes.livemode,
  domainId: inboundRoutes.domainId,
  matchType: inboundRoutes.matchType,
  localPart: inboundRoutes.localPart,
  priority: inboundRoutes.priority,
  action: inboundRoutes.action,
  url: inboundRoutes.url,
  forwardTo: inboundRoutes.forwardTo,
  spam: inboundRoutes.spam,
  secretPrefix: inboundRoutes.secretPrefix,
  createdAt: inboundRoutes.createdAt,
  updatedAt: inboundRoutes.updatedAt,
};

export type RouteRow = Omit<typeof inboundRoutes.$inferSelect, 'workspaceId' | 'domainName' | 'sealed'>;

const ownRoutes = ({ workspaceId, livemode }: Principal) => [
  eq(inboundRoutes.workspaceId, workspaceId),
  eq(inboundRoutes.livemode, livemode),
];

/** A route as clients see it. */
export const routeView = (row: RouteRow): InboundRouteView => ({
  id: row.id,
  livemode: row.livemode,
  domainId: row.domainId,
  match: { type: row.matchType, localPart: row.localPart },
  priority: row.priority,
  action: { type: row.action, url: row.url, to: row.forwardTo },
  spam: row.spam,
  secretPrefix: row.secretPrefix,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** Reads a route of the caller's environment; null when there is none. */
export async function findRoute(
  { database }: RouteReader,
  caller: Principal,
  id: string,
): Promise<RouteRow | null> {
  const [row] = await database.read((orm) =>
    orm
      .select(columns)
      .from(inboundRoutes)
      .where(and(eq(inboundRoutes.id, id), ...ownRoutes(caller))),
  );
  return row ?? null;
}

/** Answers one route. */
export async function routeDetail(
  reader: RouteReader,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<InboundRouteView | Failure> {
  const row = await findRoute(reader, caller, params.id);
  return row ? routeView(row) : notFound('inbound route');
}

/** Lists the routes of the caller's environment, newest first. */
export function listRoutes(
  { database }: RouteReader,
  call: Call<unknown, InboundRouteQuery>,
): Promise<Page<InboundRouteView> | Failure> {
  const { domainId } = call.query;
  return listById(call, {
    list: 'inbound-routes',
    prefix: 'inr',
    rows: (range, limit) =>
      database.read((orm) =>
        orm
          .select(columns)
          .from(inboundRoutes)
          .where(
            and(
              ...ownRoutes(call.caller),
              ...withinRange(inboundRoutes.id, range),
              domainId === undefined ? undefined : eq(inboundRoutes.domainId, domainId),
            ),
          )
          .orderBy(desc(inboundRoutes.id))
          .limit(limit),
      ),
    item: routeView,
  });
}

/** A route with all that receiving a message needs of it. */
export interface ReceivingRoute extends RouteMatch {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly action: RouteRow['action'];
  readonly spam: RouteRow['spam'];
  readonly domainId: string;
  /** False while its domain is not proven, or not any more: the sender is asked to come again. */
  readonly isProven: boolean;
  /** True while the latest check has found the records of its domain in DNS. */
  readonly isPresent: boolean;
}

/** Only a proven domain receives: anyone may add the name of another. An archived workspace takes nothing. */
const RECEIVING = `select r.id, r.workspace_id as "workspaceId", r.livemode, r.match_type as "matchType", r.local_part as "localPart",
  r.priority, r.action, r.spam, r.domain_id as "domainId", r.domain_name as "domainName", ${maySendSql('d')} as "isProven",
  d.state = 'verified' as "isPresent"
from inbound_routes r
  join domains d on d.id = r.domain_id and d.workspace_id = r.workspace_id and d.state <> 'removed'
  join workspaces w on w.id = r.workspace_id and w.archived_at is null and w.erase_at is null
where r.livemode = $2::boolean`;
const OF_DOMAIN = `${RECEIVING} and r.domain_name = $1 order by r.workspace_id, r.id`;
const OF_WORKSPACE = `${RECEIVING} and r.workspace_id = $1 order by r.id`;

/** The routes of the one workspace that a domain's mail is for. */
interface OwnedRoutes<Route> {
  readonly routes: readonly Route[];
  /** False while the mail has to wait until it is known whose it is. */
  readonly isSettled: boolean;
}

/**
 * The routes of the one workspace that a domain's mail is for: of those that have proven it the one that has
 * added it last. To prove it again, new keys had to be published, so that a former owner whose records were
 * left reads nothing. While DNS does not show the records of the owner but those of another, the mail waits:
 * the owner may have lost the domain, or a name server hiccups. Unproven ones where none is proven.
 */
export function routesOfOwner<Route extends Pick<ReceivingRoute, 'domainId' | 'isProven' | 'isPresent'>>(
  routes: readonly Route[],
): OwnedRoutes<Route> {
  const proven = routes.filter(({ isProven }) => isProven);
  let owner = proven[0];
  if (!owner) return { routes, isSettled: false };
  for (const route of proven) if (route.domainId > owner.domainId) owner = route;
  const { domainId, isPresent } = owner;
  if (!isPresent && proven.some((route) => route.isPresent)) return { routes: proven, isSettled: false };
  return { routes: proven.filter((route) => route.domainId === domainId), isSettled: true };
}

/**
 * SQL: false of a live route whose domain has got another owner by the rule of `routesOfOwner`. A test
 * environment has its routes alone.
 */
export const ownsMailSql = (route: string): string => `(not ${route}.livemode or not exists (
  select from inbound_routes n
    join domains o on o.id = n.domain_id and o.workspace_id = n.workspace_id and ${maySendSql('o')}
    join workspaces w on w.id = n.workspace_id and w.archived_at is null and w.erase_at is null
  where n.domain_name = ${route}.domain_name and n.livemode and n.domain_id > ${route}.domain_id
))`;

/** The routes of a domain in every workspace, proven or not, in an environment. @throws UnavailableError */
export const routesOfDomain = (
  database: Database,
  domain: string,
  livemode: boolean,
): Promise<readonly ReceivingRoute[]> => database.query<ReceivingRoute>(OF_DOMAIN, [domain, livemode]);

/** The routes of a workspace in an environment, with the names of their domains. @throws UnavailableError */
export const routesOfWorkspace = (
  database: Database,
  { workspaceId, livemode }: Pick<ReceivingRoute, 'workspaceId' | 'livemode'>,
): Promise<readonly (ReceivingRoute & { readonly domainName: string })[]> =>
  database.query(OF_WORKSPACE, [workspaceId, livemode]);

const HOSTS = 'select distinct domain_name as name from inbound_routes where livemode';

/** The names that have live routes, of any workspace. @throws UnavailableError */
export async function receivingHosts(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ name: string }>(HOSTS, []);
  return new Set(rows.map(({ name }) => name));
}

/** The present URL and secret of a route, or its targets. */
export interface RouteTarget {
  readonly url: string | null;
  readonly sealed: string | null;
  /** The targets of a forward. */
  readonly forwardTo: readonly string[] | null;
  readonly domainName: string;
}

/** Reads where a route posts or forwards to; null once it is deleted. @throws UnavailableError */
export async function routeTarget(
  database: Database,
  workspaceId: string,
  id: string,
): Promise<RouteTarget | null> {
  const [row] = await database.read((orm) =>
    orm
      .select({
        url: inboundRoutes.url,
        sealed: inboundRoutes.sealed,
        forwardTo: inboundRoutes.forwardTo,
        domainName: inboundRoutes.domainName,
      })
      .from(inboundRoutes)
      .where(and(eq(inboundRoutes.id, id), eq(inboundRoutes.workspaceId, workspaceId))),
  );
  return row ?? null;
}

const purposeOf = (routeId: string): Purpose => `inbound route secret ${routeId}`;

/** Seals a secret for one route, so that it does not open in the row of another. */
export const sealRouteSecret = (sealer: Sealer, routeId: string, secret: string): string =>
  sealer.seal(secret, purposeOf(routeId));

/** Opens a secret; null when it was sealed with another key, or for another route. */
export const openRouteSecret = (sealer: Sealer, routeId: string, sealed: string): string | null =>
  openOrNull(sealer, sealed, purposeOf(routeId));
