import { Elysia } from 'elysia';
import type { FailureCode } from '../../platform/errors/failure.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import type { Principal } from '../auth/principal.ts';
import { type ActDeps, acts, isChange } from './act.ts';
import { type AdmissionDeps, admission, answeredBy, whileAdmitted } from './admission.ts';
import { type Endpoint, endpointOf, type Params } from './endpoint.ts';
import {
  type AdmittedRequest,
  arrival,
  dropPipelined,
  type Exchange,
  type ExchangeDeps,
  type WithExchange,
} from './exchange.ts';
import { InFlight, idempotency } from './idempotency.ts';
import { type InputDeps, input } from './input.ts';
import { type Call, type PublicCall, RawResponse, route } from './route.ts';

/** The time limits of one request, in milliseconds. */
export interface RequestTimeouts {
  /**
   * The service's own work, which keeps every answer within 8 s. Bun would cut a silent connection at its
   * idle timeout.
   */
  readonly workMs: number;
  /** The arrival of the body: 30 MiB over a slow line must fit, a byte every ten seconds must not. */
  readonly bodyMs: number;
}

/** The usual ones. */
export const TIMEOUTS: RequestTimeouts = { workMs: 7_900, bodyMs: 120_000 };

/** The parts of the service that the HTTP layer uses. */
export interface HttpDeps extends ExchangeDeps, AdmissionDeps, ActDeps, Pick<InputDeps, 'bodyBudget'> {
  readonly timeouts?: RequestTimeouts;
  /** Is called with every response, for the metrics. */
  readonly observe?: (answered: ResponseMetrics) => void;
  /** Is called with every request whose caller is known, for the log of requests. */
  readonly noteRequest?: (answered: AnsweredRequest) => void;
  /** Shows requests in traces; without it there are none. */
  readonly tracing?: Tracing | null;
}

/** One response for the metrics. `route` is the pattern, never the path. */
export interface ResponseMetrics {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/** A request of a known caller, and its answer: never its body, its query or its headers. */
export interface AnsweredRequest {
  readonly requestId: string;
  readonly caller: Principal;
  readonly method: string;
  /** Null for an unknown path or method. */
  readonly endpoint: Pick<Endpoint, 'route'> | null;
  /** As it was sent: it may hold personal data. */
  readonly path: string;
  readonly params: Params;
  /** The words of the paths of all routes. */
  readonly words: ReadonlySet<string>;
  readonly status: number;
  readonly ms: number;
  /** The code of a refusal; null for every other answer. */
  readonly errorCode: FailureCode | null;
}

/**
 * Log entries in a minute about who tried what they may not, or with a credential that is none (ASVS 7.2.2):
 * a flood of wrong keys must not fill a disk.
 */
export const MOST_REFUSALS_A_MINUTE = 60;

/** Makes the application: every endpoint with the hooks that it needs. */
export function application(endpoints: readonly Endpoint[], deps: HttpDeps) {
  const { bodyMs } = deps.timeouts ?? TIMEOUTS;
  const app = new Elysia({
    name: 'posthorn',
    // Bun's own router reads unusual targets differently from Elysia's, so only one of them is used.
    systemRouter: false,
    strictPath: true,
    // With the default, hosts shorter than four characters (`http://a/v1`) lose their path.
    handler: { standardHostname: false },
  })
    // The place in the context; `arrival`, which every route has, fills it.
    .decorate('exchange', null as unknown as Exchange);
  const checks = checksOf(deps, bodyMs);
  const inFlight = new InFlight();
  const work = ({ exchange }: WithExchange) => workOn(exchange, inFlight, deps);
  const add = (endpoint: Endpoint, method: string = endpoint.route.method) =>
    app.route(method, endpoint.route.path, work, hooksOf(endpoint, checks));
  for (const endpoint of endpoints) add(endpoint);
  for (const [path, methods] of methodsByPath(endpoints)) add(optionsOf(path, methods), 'OPTIONS');
  // A path or method that does not exist is only known to be so once the caller is known.
  app.all('/*', work, {
    parse: 'none',
    transform: arrival(null),
    beforeHandle: checks.admission,
    ...checks.answer,
  });
  return app.compile();
}

/** The hooks of all endpoints. */
export function checksOf(deps: HttpDeps, bodyMs: number) {
  const { change, audit } = acts(deps);
  return {
    admission: admission(deps),
    change: deps.noteChange ? change : null,
    audit: deps.recordAct ? audit : null,
    ...input({ ...deps, bodyMs }),
    idempotency: idempotency(deps),
    answer: { afterHandle: answer, error: answerError },
  };
}

/**
 * The hooks of an endpoint. Elysia waits for those alone that are async by their source: an async function,
 * or an arrow whose whole body is a call. The order of those before the handler is a part of the interface,
 * and so is that of the checks within one: `admission.ts`, `input.ts` and `idempotency.ts` name them. Then
 * the command checks environment, state and quota.
 */
export function hooksOf(endpoint: Endpoint, checks: ReturnType<typeof checksOf>) {
  const { route, isPublic } = endpoint;
  const hasCaller = !isPublic;
  const { admission, change, audit, input, stored, idempotency, ids, answer } = checks;
  return {
    // Elysia would read the body before it is known who sends it.
    parse: 'none' as const,
    transform: arrival(endpoint),
    beforeHandle: [
      ...(route.method === 'GET' ? [] : [dropPipelined]),
      admission,
      input,
      ...(hasCaller && route.method === 'POST' ? [idempotency] : []),
      ...(route.params ? [ids] : []),
    ],
    afterHandle: [
      ...(hasCaller && change && isChange(route) ? [change] : []),
      ...(hasCaller && audit && route.audit ? [audit] : []),
      ...(route.receive ? [stored] : []),
      answer.afterHandle,
    ],
    error: [...(route.receive ? [stored] : []), answer.error],
  };
}

/**
 * Turns the result of a handler or a check into a response. No call follows the arrow or a `return` directly:
 * by its source it is not async, and no request waits a turn for it.
 */
const answer = ({ exchange, response }: WithExchange & { readonly response: unknown }) =>
  response instanceof Response ? undefined : exchange.reply(response);

/** Turns a thrown error into a response. */
const answerError = ({ exchange, error, set }: Partial<WithExchange> & ErrorContext) => {
  // The client has got the answer that the deadline passed.
  if (!exchange || exchange.time.isUsedUp) return new Response(null);
  // Elysia would copy a response whose status is not that of `set`, and stream its body.
  set.status = 200;
  return exchange.fail(error);
};

/** The parts of Elysia's context for errors that are used here. */
interface ErrorContext {
  readonly error: unknown;
  readonly set: { status?: number | string };
}

function workOn(exchange: Exchange, inFlight: InFlight, deps: HttpDeps): unknown {
  const { admitted } = exchange;
  if (!admitted) throw new Error('No endpoint works before its caller was admitted.');
  const answered = answeredBy(admitted, exchange, (by) => carryOut(exchange, by, inFlight), deps);
  return answered instanceof Promise
    ? answered.then((answer) => whileAdmitted(answer, exchange, deps))
    : whileAdmitted(answered, exchange, deps);
}

/** Calls the handler of the module. A key is in use until the work has really ended, also after a timeout. */
function carryOut(exchange: Exchange, { endpoint, caller }: AdmittedRequest, inFlight: InFlight): unknown {
  const { request, params, input, claim, requestId, client, now, time } = exchange;
  if (!input) throw new Error('No handler works before its request was read.');
  const call = {
    caller,
    method: request.method,
    params,
    query: input.query,
    body: input.body,
    claim,
    requestId,
    headers: request.headers,
    client,
    now,
    // Asked for by those alone who need it: the server watches a connection from then on.
    gone: endpoint.route.waitsMs === undefined ? undefined : request.signal,
    isGivenUp: () => time.isUsedUp,
    unheard: () => AbortSignal.any([time.usedUp, request.signal]),
  } as Call | PublicCall;
  exchange.call = call;
  const work = () => endpoint.route.handle(call);
  return caller && claim ? inFlight.run(caller, claim, work) : work();
}

function methodsByPath(endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  for (const { route } of endpoints) {
    const { method, path } = route;
    // OPTIONS requests never ask for HTML, and a page has no other methods.
    if (route.onlyForBrowsers || route.onlyForIds) continue;
    const known = methods.get(path) ?? [];
    methods.set(path, [...known, ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  return methods;
}

/**
 * Answers OPTIONS without a key, as browsers and proxies expect: the methods of a path are documented anyway.
 */
function optionsOf(path: string, methods: readonly string[]): Endpoint {
  const allow = [...methods, 'OPTIONS'].join(', ');
  return endpointOf(
    route(`GET ${path}`, {
      permission: 'public',
      summary: 'Get the methods of the path',
      handle: () => new RawResponse(null, null, { headers: { allow } }),
    }),
  );
}
