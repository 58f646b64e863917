import { Type } from '@sinclair/typebox';
import type { Server } from 'bun';
import { type Context, Elysia } from 'elysia';
import { mintId } from '../db/ids.ts';
import { type Endpoint, endpointOf } from './endpoint.ts';
import { createPipeline, type HttpDeps } from './pipeline.ts';
import { reply } from './reply.ts';
import { RawResponse, type Route, route } from './route.ts';
import { unexpectedError } from './unexpected-error.ts';

/** The application. It never listens by itself; `listen` gives it a socket. */
export interface App {
  /** Answers a request that arrived at the server. */
  fetch(request: Request, server: Pick<Server<unknown>, 'requestIP'>): Response | Promise<Response>;
  /** The answer to a request whose handling threw outside the pipeline: no client is shown a bare 500. */
  unexpected(error: unknown): Response;
}

/**
 * Puts the routes behind the pipeline. Elysia finds the route of a path and nothing else: its own reading and checking
 * of bodies runs before authentication, coerces what should be refused and quotes what was sent, so none of it is used.
 */
export function mount(routes: readonly Route[], deps: HttpDeps): App {
  const pipeline = createPipeline(deps);
  const unexpected = (error: unknown): Response => {
    const requestId = mintId('req', deps.clock.now());
    const failure = unexpectedError(error, deps.log, { requestId, route: 'unknown' });
    return reply(failure, { requestId, baseUrl: deps.baseUrl, rateLimit: null, status: 500 });
  };
  const addresses = new WeakMap<Request, string>();
  // Elysia reads the text of this function to learn what it uses: the parameters are destructured on purpose.
  const serve =
    (endpoint: Endpoint | null) =>
    ({ request, path, params }: Context) =>
      pipeline(endpoint && exists(endpoint.route, request) ? endpoint : null, {
        request,
        path,
        params,
        search: targetOf(request.url).search,
        socketAddress: addresses.get(request) ?? 'unknown',
      });
  const app = new Elysia({
    name: 'posthorn',
    // Bun's own router reads odd targets differently from Elysia's; one router is enough.
    systemRouter: false,
    strictPath: true,
    // Else hosts shorter than four characters (`http://a/v1`) lose their path.
    handler: { standardHostname: false },
  });
  // The pipeline never rejects, so nothing should get here; left to itself Elysia would answer with what the error
  // says. Hooks hold for the routes that come after them.
  app.onError(({ error }) => unexpected(error));
  for (const each of routes) app.route(each.method, each.path, serve(endpointOf(each)), UNPARSED);
  for (const [path, methods] of methodsByPath(routes)) {
    app.route('OPTIONS', path, serve(optionsOf(path, methods)), UNPARSED);
  }
  app.all('/*', serve(null), UNPARSED);
  app.compile();
  return {
    fetch(request, server) {
      const whole = withHost(request);
      addresses.set(whole, server.requestIP(request)?.address ?? 'unknown');
      return app.fetch(whole);
    },
    unexpected,
  };
}

const UNPARSED = { parse: 'none' } as const;

/** Whether the path is one that this client can know. */
const exists = ({ onlyForBrowsers = false }: Route, { headers }: Request): boolean =>
  !onlyForBrowsers || (headers.get('accept') ?? '').split(',').some(isHtml);

/** A media range that names HTML itself; with the weight 0 it is refused (RFC 9110, 12.4.2). */
const isHtml = (range: string): boolean =>
  /^\s*text\/html\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*$/i.test(range);

/** HTTP/1.0 without a Host (health probes send that), or an odd one: Bun then gives the bare target as the URL. */
function withHost(request: Request): Request {
  return request.url.startsWith('http://') ? request : new Request(`http://localhost${request.url}`, request);
}

/** Path and query of a request, as sent. Unlike `new URL` this takes a target or a host that is none (`//[`, `a/b`). */
export function targetOf(url: string): { readonly path: string; readonly search: string } {
  const target = url.replace(/^https?:\/\/[^/?]*/, '');
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, search: '' }
    : { path: target.slice(0, mark), search: target.slice(mark + 1) };
}

function methodsByPath(routes: readonly Route[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  // Nobody who asks with OPTIONS asks for HTML.
  for (const { method, path } of routes.filter(({ onlyForBrowsers }) => !onlyForBrowsers)) {
    const known = methods.get(path) ?? [];
    methods.set(path, [...known, ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  return methods;
}

/** What a path answers to is in the documentation anyway: no key is needed to ask, as browsers and proxies expect. */
function optionsOf(path: string, methods: readonly string[]): Endpoint {
  const allow = [...methods, 'OPTIONS'].join(', ');
  return endpointOf(
    route({
      method: 'GET',
      path,
      permission: 'public',
      summary: 'Tell which methods the path answers to',
      response: Type.Null(),
      status: 204,
      handle: () => new RawResponse(null, null, { headers: { allow } }),
    }),
  );
}
