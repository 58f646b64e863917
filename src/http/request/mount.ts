import { Type } from '@sinclair/typebox';
import type { Server } from 'bun';
import { type Context, Elysia } from 'elysia';
import { untilNextTurn } from '../../platform/async/batcher.ts';
import { mintId } from '../../platform/db/ids.ts';
import type { Failure } from '../../platform/errors/failure.ts';
import { hasOneHost, UNCERTAIN_HOST } from '../request-host.ts';
import { unexpectedError } from '../unexpected-error.ts';
import { type Endpoint, endpointOf, type Params } from './endpoint.ts';
import { createPipeline, type HttpDeps } from './pipeline.ts';
import { reply } from './reply.ts';
import { RawResponse, type Route, route } from './route.ts';

/** Longest silence on a connection. The deadlines of all handlers are shorter, but of those that wait. */
export const IDLE_SECONDS = 30;

/** The application, which `listen` serves on a socket. */
export interface App {
  fetch(
    request: Request,
    server: Pick<Server<unknown>, 'requestIP' | 'timeout'>,
  ): Response | Promise<Response>;
  /** Answers a request whose handling threw outside the pipeline, so that no client receives a bare 500. */
  unexpected(error: unknown): Response;
}

/**
 * Serves the routes through the pipeline. Elysia only finds the route of a path: its own parsing and validation would run
 * before authentication, coerce what should be refused and quote what was sent.
 */
export function mount(routes: readonly Route[], deps: HttpDeps): App {
  const pipeline = createPipeline(deps);
  const refuse = (failure: Failure, status: number, requestId = mintId('req', deps.clock.now())): Response =>
    reply(failure, { requestId, baseUrl: deps.baseUrl, rateLimit: null, status });
  const unexpected = (error: unknown): Response => {
    const requestId = mintId('req', deps.clock.now());
    const failure = unexpectedError(error, deps.log, { requestId, route: 'unknown' });
    return refuse(failure, 500, requestId);
  };
  const addresses = new WeakMap<Request, string>();
  const answer = (
    endpoint: Endpoint | null,
    request: Request,
    { path, search }: Target,
    params: Params,
    socketAddress: string,
  ): Promise<Response> => {
    const found = endpoint && exists(endpoint.route, request) ? endpoint : null;
    const carryOut = () => pipeline(found, { request, path, params, search, socketAddress });
    return found && mayChange(request.method) ? unlessPipelined(request, carryOut) : carryOut();
  };
  // Elysia reads the source of this function to learn what it uses, so the parameters have to be destructured.
  const serve =
    (endpoint: Endpoint | null) =>
    ({ request, path, params }: Context) =>
      answer(
        endpoint,
        request,
        { path, search: targetOf(request.url).search },
        params,
        addresses.get(request) ?? 'unknown',
      );
  const endpoints = routes.map(endpointOf);
  const fixed = new FixedRoutes();
  for (const endpoint of endpoints) fixed.add(endpoint);
  const routed = () => {
    const app = new Elysia({
      name: 'posthorn',
      // Bun's own router reads unusual targets differently from Elysia's, so only one of them is used.
      systemRouter: false,
      strictPath: true,
      // With the default, hosts shorter than four characters (`http://a/v1`) lose their path.
      handler: { standardHostname: false },
    });
    // The pipeline never rejects, so no error should arrive here; without this hook Elysia would answer with the message of the
    // error. Hooks only apply to the routes that are added after them.
    app.onError(({ error }) => unexpected(error));
    for (const endpoint of endpoints)
      app.route(endpoint.route.method, endpoint.route.path, serve(endpoint), UNPARSED);
    for (const [path, methods] of methodsByPath(routes))
      app.route('OPTIONS', path, serve(optionsOf(path, methods)), UNPARSED);
    app.all('/*', serve(null), UNPARSED);
    return app.compile();
  };
  let app: ReturnType<typeof routed> | undefined;
  return {
    fetch(request, server) {
      if (!hasOneHost(request)) return refuse(UNCERTAIN_HOST, 400);
      const whole = withHost(request);
      const address = server.requestIP(request)?.address ?? 'unknown';
      const target = targetOf(whole.url);
      const endpoint = fixed.find(request.method, target.path);
      if (endpoint) {
        // The server cuts a connection that is silent for longer than any other route takes.
        const waits = endpoint.route.waitsMs;
        if (waits !== undefined) server.timeout(request, Math.ceil(waits / 1_000) + IDLE_SECONDS);
        return answer(endpoint, whole, target, NO_PARAMS, address);
      }
      addresses.set(whole, address);
      // Made by the first request that needs it: a start would wait 12 ms for it, and most of what asks at once needs it not.
      app ??= routed();
      return app.fetch(whole);
    },
    unexpected,
  };
}

const mayChange = (method: string): boolean => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';

/**
 * Carries a request out unless another one came right behind it. The server closes such a connection as soon as it has read the second
 * (Bun 1.4.5), so that nothing tells what became of the first: nothing is done, and the client may send both again.
 */
async function unlessPipelined(request: Request, carryOut: () => Promise<Response>): Promise<Response> {
  const { signal } = request;
  await untilNextTurn();
  return signal.aborted ? new Response(null, { status: 400 }) : carryOut();
}

const UNPARSED = { parse: 'none' } as const;
const NO_PARAMS: Params = {};

/**
 * The routes without parameters, each found by its whole path: what Elysia does for every request takes longer than that. A path
 * that is written in any other way, and one that two routes share, is left to Elysia.
 */
class FixedRoutes {
  readonly #byMethod = new Map<string, Map<string, Endpoint | null>>();

  add(endpoint: Endpoint): void {
    const { method, path } = endpoint.route;
    if (/[:*]/.test(path)) return;
    const byPath = this.#byMethod.get(method) ?? new Map<string, Endpoint | null>();
    this.#byMethod.set(method, byPath.set(path, byPath.has(path) ? null : endpoint));
  }

  find(method: string, path: string): Endpoint | null {
    return this.#byMethod.get(method)?.get(path) ?? null;
  }
}

/** True when the path exists for this client. */
const exists = ({ onlyForBrowsers = false }: Route, { headers }: Request): boolean =>
  !onlyForBrowsers || (headers.get('accept') ?? '').split(',').some(isHtml);

/** True for a media range that names HTML itself. The weight 0 refuses it (RFC 9110, 12.4.2). */
const isHtml = (range: string): boolean =>
  /^\s*text\/html\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*$/i.test(range);

/** Completes the URL of a request without a usable Host, as HTTP/1.0 health probes send it: Bun gives the bare target there. */
function withHost(request: Request): Request {
  return request.url.startsWith('http://') ? request : new Request(`http://localhost${request.url}`, request);
}

/** The path and the query of a request. */
interface Target {
  readonly path: string;
  readonly search: string;
}

/** They are as they were sent. Unlike `new URL` this accepts malformed targets and hosts (`//[`, `a/b`). */
export function targetOf(url: string): Target {
  const target = url.replace(/^https?:\/\/[^/?]*/, '');
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, search: '' }
    : { path: target.slice(0, mark), search: target.slice(mark + 1) };
}

function methodsByPath(routes: readonly Route[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  // OPTIONS requests never ask for HTML.
  for (const { method, path } of routes.filter(({ onlyForBrowsers }) => !onlyForBrowsers)) {
    const known = methods.get(path) ?? [];
    methods.set(path, [...known, ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  return methods;
}

/** Answers OPTIONS without a key, as browsers and proxies expect: the methods of a path are documented anyway. */
function optionsOf(path: string, methods: readonly string[]): Endpoint {
  const allow = [...methods, 'OPTIONS'].join(', ');
  return endpointOf(
    route({
      method: 'GET',
      path,
      permission: 'public',
      summary: 'Get the methods of the path',
      response: Type.Null(),
      status: 204,
      handle: () => new RawResponse(null, null, { headers: { allow } }),
    }),
  );
}
