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
/** A part of a path that is a word: an address, an id or a secret is none. */
const WORD = /^(?:v\d|[a-z]{1,20}(?:-[a-z]{1,20}){0,3})$/;

/**
 * The path of a request without anything that may be personal or secret. Only ids of the service and aliases of templates take the
 * place of a name in the route; of an unknown path only words are shown.
 */
export function loggedPath(
  endpoint: Pick<Endpoint, 'route'> | null,
  { path, params }: { readonly path: string; readonly params: Params },
): LoggedPath {
  if (!endpoint) return { route: UNKNOWN_ROUTE, path: wordsOf(path) };
  const { route } = endpoint;
  return {
    route: route.path.replace(/:(\w+)/g, '{$1}'),
    path: route.path.replace(/:(\w+)/g, (_, name: string) => idOf(route, name, params[name]) ?? `{${name}}`),
  };
}

/** The text of a parameter where it can be nothing but an id or an alias. */
function idOf({ params }: Endpoint['route'], name: string, given: string | null | undefined): string | null {
  const spec = params?.[name];
  if (!spec || !('prefix' in spec) || !given) return null;
  return isId(spec.prefix, given) || spec.alias?.test(given) ? given : null;
}

const wordsOf = (path: string): string => {
  const parts = path.split('/').slice(1, MOST_PARTS + 2);
  const shown = parts.map((part, index) =>
    index < MOST_PARTS && (part === '' || WORD.test(part)) ? part : '…',
  );
  return `/${shown.join('/')}`;
};
