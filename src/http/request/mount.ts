import type { Server } from 'bun';
import { mintId } from '../../platform/db/ids.ts';
import type { Failure } from '../../platform/errors/failure.ts';
import { rarely } from '../../platform/telemetry/rarely.ts';
import { hasOneHost, UNCERTAIN_HOST } from '../request-host.ts';
import { unexpectedError } from '../unexpected-error.ts';
import { endpointOf } from './endpoint.ts';
import { carrying, Exchange } from './exchange.ts';
import { application, type HttpDeps, MOST_REFUSALS_A_MINUTE, TIMEOUTS } from './pipeline.ts';
import { reply } from './reply.ts';
import type { Route } from './route.ts';

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
 * Serves the routes by Elysia. Around it is what has to surround every hook: the deadline, the trace, the log
 * of refusals and the metrics.
 */
export function mount(routes: readonly Route[], deps: HttpDeps): App {
  const { clock, log, tracing, observe, noteRequest } = deps;
  const { workMs } = deps.timeouts ?? TIMEOUTS;
  const refuse = (failure: Failure, status: number, requestId = mintId('req', clock.now())): Response =>
    reply(failure, { requestId, baseUrl: deps.baseUrl, rateLimit: null, status });
  const noteRefusal = rarely(log, () => clock.monotonic(), {
    everyMs: 60_000,
    most: MOST_REFUSALS_A_MINUTE,
  });
  const endpoints = routes.map(endpointOf);
  const words = new Set(
    routes.flatMap(({ path }) => path.split('/').filter((part) => !part.startsWith(':'))),
  );
  let app: ReturnType<typeof application> | undefined;

  async function answer(exchange: Exchange): Promise<Response> {
    // Made by the first request: a start would wait for it, and most of what asks at once needs it not.
    app ??= application(endpoints, deps);
    const elysia = app;
    let response: Response;
    try {
      response = await exchange.time.limit(async () => {
        try {
          return await elysia.fetch(carrying(exchange));
        } finally {
          // After the deadline too, once the work has really ended.
          exchange.forget();
        }
      });
    } catch (thrown) {
      response = exchange.fail(thrown);
    }
    const { endpoint, requestId, client, route, path, params, request, caller, errorCode } = exchange;
    const { method } = request;
    const { status } = response;
    const ms = exchange.age;
    if (isRefusedAccess(status) && !endpoint?.isPublic)
      noteRefusal(
        { requestId, client, caller: caller?.id ?? null, method, route, status },
        'Access was refused',
      );
    observe?.({ method, route, status, ms });
    if (caller)
      noteRequest?.({ requestId, caller, method, endpoint, path, params, words, status, ms, errorCode });
    return response;
  }

  return {
    fetch(request, server) {
      if (!hasOneHost(request)) return refuse(UNCERTAIN_HOST, 400);
      const exchange = new Exchange(request, server, workMs, deps);
      if (!tracing) return answer(exchange);
      return tracing.request(request, (onRoute) => {
        exchange.onRoute = onRoute;
        return answer(exchange);
      });
    },
    unexpected(error) {
      const requestId = mintId('req', clock.now());
      const failure = unexpectedError(error, log, { requestId, route: 'unknown' });
      return refuse(failure, 500, requestId);
    },
  };
}

/** A public form logs what it refuses by itself. */
const isRefusedAccess = (status: number): boolean => status === 401 || status === 403;

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
