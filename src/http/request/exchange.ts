import type { Server } from 'bun';
import { untilNextTurn } from '../../platform/async/batcher.ts';
import { WorkTime } from '../../platform/async/deadline.ts';
import { mintId } from '../../platform/db/ids.ts';
import { Failure, type FailureCode } from '../../platform/errors/failure.ts';
import type { Principal } from '../auth/principal.ts';
import type { RateLimitStatus } from '../limits/rate-limit.ts';
import type { Log } from '../log.ts';
import { unexpectedError } from '../unexpected-error.ts';
import type { Endpoint, Params } from './endpoint.ts';
import { reply } from './reply.ts';
import type { Call, IdempotencyClaim, PublicCall } from './route.ts';

/**
 * Longest silence on a connection. The deadlines of all handlers are shorter, but of those that wait. Proxies
 * keep a connection for the next request, nginx and AWS's load balancers for 60 s: one that is closed here
 * first, as a request arrives on it, makes a 502 there.
 */
export const IDLE_SECONDS = 75;

/** The server behind a request. */
export type RequestServer = Pick<Server<unknown>, 'requestIP' | 'timeout'>;

/** An endpoint and the caller who may use it; null for a public endpoint. */
export interface AdmittedRequest {
  readonly endpoint: Endpoint;
  readonly caller: Principal | null;
}

/** The query and the body of a request, which match the schemas of its endpoint. */
export interface RequestInput {
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** The parts of the service that every exchange uses. */
export interface ExchangeDeps {
  readonly clock: { now(): number; monotonic(): number };
  readonly log: Log;
  /** The public URL of the service without a trailing slash. The links in errors begin with it. */
  readonly baseUrl: string;
}

const NO_PARAMS: Params = {};

/** One request on its way through the hooks. Each hook adds what later ones need. */
export class Exchange {
  /** Epoch milliseconds. */
  readonly now: number;
  /** The monotonic time of its arrival, in milliseconds. */
  readonly startedAt: number;
  readonly requestId: string;
  readonly time: WorkTime;
  readonly socketAddress: string;
  /** Null until the router has found it, and for an unknown path or method. */
  endpoint: Endpoint | null = null;
  /** As it was sent. It is read off no URL: of a Host that is none there is no URL. */
  path = '';
  params: Params = NO_PARAMS;
  /** The address of the client; empty until admission has found it. */
  client = '';
  /** The state of the address limit for the headers of the answer; null until the request was counted. */
  rateLimit: RateLimitStatus | null = null;
  /** The caller, also one who is refused; null until admission has found it. */
  caller: Principal | null = null;
  /** True once it was counted against the limit of its key, and is within it. */
  isCounted = false;
  /** Null until admission has let it in. */
  admitted: AdmittedRequest | null = null;
  /** Null until query and body were read. */
  input: RequestInput | null = null;
  claim: IdempotencyClaim | null = null;
  /** The argument of the handler; null until it is called. */
  call: Call | PublicCall | null = null;
  /** The code of the refusal that was the answer. */
  errorCode: FailureCode | null = null;
  /** Is called with the pattern of the route once the router has found it. */
  onRoute: ((route: string) => void) | null = null;

  constructor(
    readonly request: Request,
    private readonly server: RequestServer,
    workMs: number,
    private readonly deps: ExchangeDeps,
  ) {
    const { clock } = deps;
    this.now = clock.now();
    this.startedAt = clock.monotonic();
    this.requestId = mintId('req', this.now);
    this.time = new WorkTime(workMs, () => clock.monotonic());
    this.socketAddress = server.requestIP(request)?.address ?? 'unknown';
  }

  /** The pattern of the route for logs, metrics and traces; never the path, which may hold a secret. */
  get route(): string {
    return this.endpoint?.route.path ?? 'unknown';
  }

  /** Milliseconds since its arrival. */
  get age(): number {
    return this.deps.clock.monotonic() - this.startedAt;
  }

  /** Takes the endpoint that the router has found; null where it has found none. */
  found(endpoint: Endpoint | null): void {
    this.endpoint = endpoint?.isThereFor(this.request, this.params) ? endpoint : null;
    this.onRoute?.(this.route);
    const waitsMs = this.endpoint?.route.waitsMs;
    if (waitsMs === undefined) return;
    this.time.extend(waitsMs);
    // The server cuts a connection that is silent for longer than any other route takes.
    this.server.timeout(this.request, Math.ceil(waitsMs / 1_000) + IDLE_SECONDS);
  }

  /** Lets go of the body, of up to 30 MiB: Bun's request object, which carries this, is collected late. */
  forget(): void {
    this.input = null;
    this.claim = null;
    this.call = null;
  }

  /** Turns the result of a handler or a check into the response. */
  reply(given: unknown): Response {
    const { endpoint, requestId, rateLimit } = this;
    this.errorCode = given instanceof Failure ? given.code : null;
    return reply(given, {
      requestId,
      rateLimit,
      baseUrl: this.deps.baseUrl,
      status: endpoint?.route.status ?? 404,
      errorBody: endpoint?.route.errorBody,
    });
  }

  /** Turns a thrown error into the response. */
  fail(thrown: unknown): Response {
    const { requestId, route, request } = this;
    return this.reply(unexpectedError(thrown, this.deps.log, { requestId, route }, request));
  }
}

/** A request that carries its exchange through Elysia. */
interface CarryingRequest extends Request {
  exchange?: Exchange;
}

/** Hands the exchange of a request to the hooks. */
export function carrying(exchange: Exchange): Request {
  const { request } = exchange;
  const routed: CarryingRequest = request.url.startsWith('http://') ? request : withHost(request);
  routed.exchange = exchange;
  return routed;
}

/**
 * Completes the URL for the router where a request has no usable Host, as HTTP/1.0 health probes send it: Bun
 * gives the bare target there. The exchange keeps the original, because Bun knows the address of the client
 * and the timeout by that object alone.
 */
function withHost({ url, method }: Request): Request {
  return new Request(`http://localhost${url.startsWith('/') ? '' : '/'}${url}`, { method });
}

function exchangeOf(request: CarryingRequest): Exchange {
  if (!request.exchange) throw new Error('The request came past mount().');
  return request.exchange;
}

/** The context of every hook and of the handler. `arrival`, which every route has, puts the exchange in. */
export interface WithExchange {
  exchange: Exchange;
}

/**
 * The hook that tells the exchange which endpoint the router has found; null for an unknown path or method.
 */
export const arrival =
  (endpoint: Endpoint | null) =>
  (
    context: WithExchange & { readonly request: Request; readonly path: string; readonly params: unknown },
  ) => {
    const { request, path, params } = context;
    const exchange = exchangeOf(request);
    exchange.path = path;
    // The router gives none to a path without names.
    exchange.params = (params as Params | undefined) ?? NO_PARAMS;
    exchange.found(endpoint);
    context.exchange = exchange;
  };

/**
 * Carries a request out unless another one came right behind it. The server closes such a connection as soon
 * as it has read the second (Bun 1.4.5), so that nothing tells what became of the first: nothing is done, and
 * the client may send both again.
 */
export async function dropPipelined({ exchange }: WithExchange): Promise<Response | undefined> {
  const { endpoint, request } = exchange;
  if (!endpoint) return undefined;
  const { signal } = request;
  await untilNextTurn();
  return signal.aborted ? new Response(null, { status: 400 }) : undefined;
}
