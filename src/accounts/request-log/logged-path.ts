import type { Endpoint, Params } from '../../http/request/endpoint.ts';
import { isId } from '../../platform/db/ids.ts';

/** The route and the path of a request, as its log shows them. */
export interface LoggedPath {
  /** As the reference writes it: `/v1/emails/{id}`. */
  readonly route: string;
  /** The route with the ids of the request: `/v1/emails/em_01m7xj1rwp4sersf8ggsa354`. */
  readonly path: string;
}

/** The route of requests to unknown paths and methods. */
const UNKNOWN_ROUTE = 'unknown';

/** The most parts that are shown of an unknown path. */
const MOST_PARTS = 8;

/** The request whose path is shown. */
export interface PathRequest {
  readonly path: string;
  readonly params: Params;
  readonly status: number;
  /** The words of all routes. */
  readonly words: ReadonlySet<string>;
}

/**
 * The path of a request without anything that may be personal or secret. Only ids of the service, and aliases
 * of templates that were found, take the place of a name in the route. An unknown path shows only words that
 * some route has: another word may be a name.
 */
export function loggedPath(
  endpoint: Pick<Endpoint, 'route'> | null,
  { path, params, status, words }: PathRequest,
): LoggedPath {
  if (!endpoint) return { route: UNKNOWN_ROUTE, path: wordsOf(path, words) };
  const { route } = endpoint;
  return {
    route: route.path.replace(/:(\w+)/g, '{$1}'),
    path: route.path.replace(/:(\w+)/g, (_, name: string) => {
      const given = params[name];
      return idOf(route, name, given, status < 400) ?? `{${name}}`;
    }),
  };
}

/** The text of a parameter where it can be nothing but an id, or an alias that was found. */
function idOf(
  { params }: Endpoint['route'],
  name: string,
  given: string | null | undefined,
  isFound: boolean,
): string | null {
  const spec = params?.[name];
  if (!spec || !('prefix' in spec) || !given) return null;
  return isId(spec.prefix, given) || (isFound && spec.alias?.test(given)) ? given : null;
}

const wordsOf = (path: string, words: ReadonlySet<string>): string => {
  const parts = path.split('/').slice(1, MOST_PARTS + 2);
  const shown = parts.map((part, index) =>
    index < MOST_PARTS && (part === '' || words.has(part)) ? part : '…',
  );
  return `/${shown.join('/')}`;
};
