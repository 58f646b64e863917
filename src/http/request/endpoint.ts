import { Type } from '@sinclair/typebox';
import { isId } from '../../platform/db/ids.ts';
import { Failure, notFound } from '../../platform/errors/failure.ts';
import { holds, type Permission } from '../auth/permissions.ts';
import { lacking, type Principal, type PrincipalKind } from '../auth/principal.ts';
import { withoutWorkspace } from '../auth/sessions/named-workspace.ts';
import { JSON_TYPE } from '../body/media-type.ts';
import type { BodyRules } from '../body/read-body.ts';
import type { OwnLimit } from '../limits/rate-limit.ts';
import { anyQuery, compileQuery, noQuery, type QueryReader } from './query.ts';
import { DASHBOARD_API, type Route } from './route.ts';
import { type Checker, compileChecker } from './schema.ts';

/** A compiled route: everything that can be computed once. */
export interface Endpoint {
  readonly route: Route;
  readonly isPublic: boolean;
  readonly ownLimit: OwnLimit | undefined;
  readonly readQuery: QueryReader;
  /** Null where bodies have no meaning. */
  readonly body: (BodyRules & { readonly check: Checker | null }) | null;
  /** True where it exists for the client of the request, with these parameters. */
  isThereFor(request: Pick<Request, 'headers'>, params: Params): boolean;
  /** The refusal of a caller who may not call it; null when the caller may. */
  refuse(caller: Principal): Failure | null;
  /** The 404 of a malformed path parameter; null when all are well-formed. */
  refuseParams(params: Params): Failure | null;
}

/** The decoded path parameters; null for one with malformed percent-encoding. */
export type Params = Readonly<Record<string, string | null>>;

/** The default limit, 1 MiB. */
const BODY_LIMIT = 1_048_576;
const NO_FIELDS = Type.Object({});
const USUAL_PRINCIPALS: readonly PrincipalKind[] = ['key', 'member'];
const WRONG_PRINCIPAL = new Failure('FORBIDDEN', 'This endpoint does not accept your sign-in method.', {
  suggestion: 'Use an API key with the permission that the reference at /docs names.',
});
const TEST_KEY = new Failure(
  'TEST_MODE_NOT_SUPPORTED',
  'This endpoint concerns the live environment and does not accept test keys.',
  { suggestion: 'Use a live key (svc_live_…).' },
);

export function endpointOf(route: Route): Endpoint {
  const { permission, method, path, ipLimitPerMinute, ipLimitSetting } = route;
  const perMinute = ipLimitSetting ?? ipLimitPerMinute;
  const hasOwnSwitch = ipLimitSetting !== undefined;
  if (route.credential === 'session' && path.startsWith('/v1'))
    throw new Error(`${method} ${path} cannot accept a session: endpoints under /v1 do not read cookies.`);
  const isPublic = permission === 'public';
  const readQuery = queryReaderOf(route, isPublic);
  const refuseParams = paramRefuserOf(route);
  return {
    route,
    isPublic,
    ownLimit:
      perMinute === undefined ? undefined : { name: `${method} ${countedAs(path)}`, perMinute, hasOwnSwitch },
    // A link to a file names its workspace there.
    readQuery:
      route.credential === 'session' && method === 'GET'
        ? (search) => readQuery(withoutWorkspace(search))
        : readQuery,
    body: method === 'GET' || route.takesAnything ? null : bodyOf(route),
    isThereFor: route.onlyForBrowsers
      ? acceptsHtml
      : route.onlyForIds
        ? (_, params) => refuseParams(params) === null
        : () => true,
    refuse: refuserOf(route, permissionsOf(route)),
    refuseParams,
  };
}

function queryReaderOf({ takesAnything, query, path }: Route, isPublic: boolean): QueryReader {
  if (takesAnything) return anyQuery;
  if (query) return compileQuery(query);
  return isPublic && !isForPages(path) ? anyQuery : noQuery;
}

const acceptsHtml = ({ headers }: Pick<Request, 'headers'>): boolean =>
  (headers.get('accept') ?? '').split(',').some(isHtml);

/** True for a media range that names HTML itself. The weight 0 refuses it (RFC 9110, 12.4.2). */
const isHtml = (range: string): boolean =>
  /^\s*text\/html\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*$/i.test(range);

/** True for paths that only pages of the service request, where no client appends parameters. */
const isForPages = (path: string): boolean =>
  path.startsWith(`${DASHBOARD_API}/`) || path.startsWith('/inspector/api/');

/** A route has one limit, whether keys or members call it: they would have three of it otherwise. */
const countedAs = (path: string): string =>
  path.replace(new RegExp(`^${DASHBOARD_API}/(?:live|test)/`), '/v1/');

/** All the permissions that a caller needs. */
export function permissionsOf({ permission }: Pick<Route, 'permission'>): readonly Permission[] {
  if (permission === 'public' || permission === 'any key') return [];
  return typeof permission === 'string' ? [permission] : permission;
}

function bodyOf({
  body,
  bodyLimit = BODY_LIMIT,
  mediaTypes = [JSON_TYPE],
  rawBody = false,
  shortened,
}: Route): Endpoint['body'] {
  const isJson = mediaTypes.includes(JSON_TYPE) && !rawBody;
  const check = isJson ? compileChecker(body ?? NO_FIELDS) : null;
  return { limit: bodyLimit, mediaTypes, isJson, check, shortened };
}

function refuserOf(
  { testMode, principals = USUAL_PRINCIPALS }: Route,
  needed: readonly Permission[],
): Endpoint['refuse'] {
  return (caller) => {
    if (!principals.includes(caller.kind)) return WRONG_PRINCIPAL;
    const missing = needed.find((permission) => !holds(caller.permissions, permission));
    if (missing) return lacking(missing, caller);
    if (caller.livemode || testMode === undefined) return null;
    return testMode === 'members' && caller.kind === 'member' ? null : TEST_KEY;
  };
}

/** True when no resource can have this name: PostgreSQL stores no text with NUL in it. */
const isNoText = (value: string | null): boolean => value === null || value.includes('\0');
const NO_TEXT = notFound('resource');

function paramRefuserOf({ params = {} }: Route): Endpoint['refuseParams'] {
  const names = Object.keys(params);
  const ids = Object.entries(params).flatMap(([name, spec]) =>
    'resource' in spec ? [{ name, ...spec }] : [],
  );
  return (given) => {
    const wrong = ids.find(({ name, prefix, alias }) => {
      const text = given[name] ?? '';
      return !isId(prefix, text) && !alias?.test(text);
    });
    if (wrong) return notFound(wrong.resource);
    return names.some((name) => isNoText(given[name] ?? null)) ? NO_TEXT : null;
  };
}
