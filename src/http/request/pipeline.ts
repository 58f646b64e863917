import { BodyBudget } from '../../platform/async/body-budget.ts';
import { WorkTime } from '../../platform/async/deadline.ts';
import type { BudgetLimits } from '../../platform/async/keyed-budget.ts';
import { mintId } from '../../platform/db/ids.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import { rarely } from '../../platform/telemetry/rarely.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import { bodyStream, orBroken } from '../body/body-stream.ts';
import { announcedLength, NO_BODY, NO_ROOM, readBody, unsupported } from '../body/read-body.ts';
import type { Log } from '../log.ts';
import { unexpectedError } from '../unexpected-error.ts';
import { type ChangeByRequest, changeBehind, isChange, type RecordAct, recordAct } from './act.ts';
import {
  type AdmissionDeps,
  type AdmissionRequest,
  type AdmittedRequest,
  admit,
  answeredBy,
} from './admission.ts';
import type { Endpoint, Params } from './endpoint.ts';
import { claimOf, InFlight, saidBy } from './idempotency.ts';
import { reply } from './reply.ts';
import { type Call, type PublicCall, ReceivedBody } from './route.ts';

/** The time limits of one request, in milliseconds. */
export interface RequestTimeouts {
  /** The service's own work, which keeps every answer within 8 s. Bun would cut a silent connection at its idle timeout. */
  readonly workMs: number;
  /** The arrival of the body: 30 MiB over a slow line must fit, a byte every ten seconds must not. */
  readonly bodyMs: number;
}

const TIMEOUTS: RequestTimeouts = { workMs: 7_900, bodyMs: 120_000 };

/** The parts of the service that the HTTP layer uses. */
export interface HttpDeps extends AdmissionDeps {
  readonly clock: { now(): number; monotonic(): number };
  readonly log: Log;
  readonly timeouts?: RequestTimeouts;
  readonly bodyBudget?: BudgetLimits;
  /** Writes an act that succeeded to the audit log. */
  readonly recordAct?: RecordAct;
  /** Is called with what a request has changed, for the pages that show it. */
  readonly noteChange?: (change: ChangeByRequest) => void;
  /** Is called with every response, for the metrics. */
  readonly observe?: (answered: ResponseMetrics) => void;
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

/** A request with the results of the router. */
export interface RoutedRequest {
  readonly request: Request;
  readonly path: string;
  /** The text after `?`; empty when there is none. */
  readonly search: string;
  readonly params: Params;
  readonly socketAddress: string;
}

/**
 * Log entries in a minute about who tried what they may not, or with a credential that is none (ASVS 7.2.2): a flood of wrong keys must
 * not fill a disk.
 */
export const MOST_REFUSALS_A_MINUTE = 60;

/** Answers one request; `endpoint` is null when the path or the method is unknown. It never rejects. */
export type Pipeline = (endpoint: Endpoint | null, incoming: RoutedRequest) => Promise<Response>;

/** One request while it passes the checks. */
interface Exchange extends AdmissionRequest, RoutedRequest {
  readonly requestId: string;
  readonly startedAt: number;
  readonly time: WorkTime;
}

/**
 * Makes the pipeline that every request passes. The order of the checks is part of the interface: address limit,
 * authentication, key limit, route, permission and test mode (`admit`); media type, size, syntax (`readBody`); schema,
 * idempotency, ids; then the command checks environment, state and quota.
 */
export function createPipeline(deps: HttpDeps): Pipeline {
  const { clock, log, baseUrl, timeouts = TIMEOUTS } = deps;
  const monotonic = () => clock.monotonic();
  const inFlight = new InFlight();
  const bodies = new BodyBudget(deps.bodyBudget);
  const noteRefusal = rarely(log, monotonic, { everyMs: 60_000, most: MOST_REFUSALS_A_MINUTE });

  async function answer(exchange: Exchange): Promise<unknown> {
    const admitted = await admit(exchange, deps);
    if (admitted instanceof Failure) return admitted;
    const reading = read(exchange, admitted, timeouts.bodyMs, bodies);
    // The time that the client takes to send its body does not count against the work.
    const sent = reading instanceof Promise ? await exchange.time.except(reading) : reading;
    const work = (by: AdmittedRequest) =>
      sent instanceof Failure ? sent : released(sent.body, perform(exchange, by, sent, inFlight, deps));
    return answeredBy(admitted, exchange, work, deps);
  }

  const respondTo: Pipeline = async (endpoint, incoming) => {
    const now = clock.now();
    // Written out, as are the other objects of every request: spreading one costs more than a lookup of its route.
    const { request, path, search, params, socketAddress } = incoming;
    const exchange: Exchange = {
      request,
      path,
      search,
      params,
      socketAddress,
      endpoint,
      now,
      requestId: mintId('req', now),
      startedAt: clock.monotonic(),
      time: new WorkTime(timeouts.workMs + (endpoint?.route.waitsMs ?? 0), monotonic),
      client: '',
      rateLimit: null,
      callerId: null,
      isCounted: false,
    };
    const { requestId, startedAt } = exchange;
    const route = endpoint?.route.path ?? 'unknown';
    const respond = (given: unknown) =>
      reply(given, {
        requestId,
        baseUrl,
        rateLimit: exchange.rateLimit,
        status: endpoint?.route.status ?? 404,
        errorBody: endpoint?.route.errorBody,
      });
    let response: Response;
    try {
      response = respond(await exchange.time.limit(() => answer(exchange)));
    } catch (thrown) {
      response = respond(unexpectedError(thrown, log, { requestId, route }, request));
    }
    if (isRefusedAccess(response.status) && !endpoint?.isPublic) {
      const { client, callerId: caller } = exchange;
      const { method } = request;
      noteRefusal(
        { requestId, client, caller, method, route, status: response.status },
        'Access was refused',
      );
    }
    deps.observe?.({
      method: incoming.request.method,
      route,
      status: response.status,
      ms: clock.monotonic() - startedAt,
    });
    return response;
  };

  const { tracing } = deps;
  if (!tracing) return respondTo;
  return (endpoint, incoming) => {
    const { method, headers } = incoming.request;
    const asked = { method, route: endpoint?.route.path ?? 'unknown', headers };
    return tracing.request(asked, () => respondTo(endpoint, incoming));
  };
}

/** A public form logs what it refuses by itself. */
const isRefusedAccess = (status: number): boolean => status === 401 || status === 403;

interface RequestInput {
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Removes what a request has stored and not kept, once its work has really ended. */
function released(body: unknown, work: unknown): unknown {
  if (!(body instanceof ReceivedBody)) return work;
  return (async () => {
    try {
      return await work;
    } finally {
      await body.release();
    }
  })();
}

/** Reads the query and the body, and checks them against the schemas of the endpoint. */
function read(
  exchange: Exchange,
  admitted: AdmittedRequest,
  bodyMs: number,
  bodies: BodyBudget,
): RequestInput | Failure | Promise<RequestInput | Failure> {
  const { endpoint, caller } = admitted;
  const { request, search } = exchange;
  if (endpoint.route.receive) return receive(exchange, admitted, bodyMs, bodies);
  const reserve = () => bodies.reserve(caller?.id ?? 'public');
  const body = endpoint.body ? readBody(request, endpoint.body, bodyMs, reserve) : NO_BODY;
  return body instanceof Promise
    ? body.then((arrived) => checked(endpoint, search, arrived))
    : checked(endpoint, search, body);
}

function checked(endpoint: Endpoint, search: string, body: unknown): RequestInput | Failure {
  if (body instanceof Failure) return body;
  const rules = endpoint.body;
  const value = body === NO_BODY ? (rules?.check === null ? new Uint8Array() : {}) : body;
  const query = endpoint.readQuery(search);
  const bodyDetails = rules?.check?.(value, '/body') ?? [];
  if (query instanceof Failure) return invalid([...(query.extra.details ?? []), ...bodyDetails]);
  return bodyDetails.length > 0 ? invalid(bodyDetails) : { query, body: value };
}

/** Lets the endpoint store the body in pieces. The query is checked before the first of them. */
async function receive(
  { request, search, now }: Exchange,
  { endpoint, caller }: AdmittedRequest,
  bodyMs: number,
  bodies: BodyBudget,
): Promise<RequestInput | Failure> {
  const { body: rules, route } = endpoint;
  if (!rules || !route.receive || !caller) throw new Error(`${route.path} cannot receive a body.`);
  const announced = announcedLength(request, rules);
  if (announced instanceof Failure) return announced;
  if (announced !== NO_BODY && !request.headers.has('content-type')) return unsupported(rules);
  const query = endpoint.readQuery(search);
  if (query instanceof Failure) return query;
  const reservation = bodies.reserve(caller.id);
  if (typeof announced === 'string' && !reservation.hold(Number(announced))) return NO_ROOM;
  try {
    const pieces = bodyStream(request, { rules, bodyMs, reservation });
    const body = await orBroken(route.receive(pieces, { caller, query, now }));
    return body instanceof Failure ? body : { query, body };
  } finally {
    reservation.release();
  }
}

/** Claims the Idempotency-Key, refuses malformed ids, and calls the handler of the module. */
function perform(
  exchange: Exchange,
  { endpoint, caller }: AdmittedRequest,
  sent: RequestInput,
  inFlight: InFlight,
  { recordAct: record, noteChange, log }: HttpDeps,
): unknown {
  const { request, path, params, requestId, now, time } = exchange;
  const { method, headers: own } = endpoint.route;
  const fingerprinted = () => ({ method, path, said: saidBy(request.headers, own), ...sent });
  const claim = caller !== null && method === 'POST' ? claimOf(request.headers, fingerprinted) : null;
  if (claim instanceof Failure) return claim;
  const absent = endpoint.refuseParams(params);
  if (absent) return absent;
  const { headers } = request;
  const { client } = exchange;
  const { query, body } = sent;
  const call = {
    caller,
    method: request.method,
    params,
    query,
    body,
    claim,
    requestId,
    headers,
    client,
    now,
    // Asked for by those alone who need it: the server watches a connection from then on.
    gone: endpoint.route.waitsMs === undefined ? undefined : request.signal,
    isGivenUp: () => time.isUsedUp,
    unheard: () => AbortSignal.any([time.usedUp, request.signal]),
  };
  const { route } = endpoint;
  const handled = () => route.handle(call as Call | PublicCall);
  const work =
    caller && noteChange && isChange(route)
      ? async () => {
          const answer = await handled();
          const change = changeBehind(route, call as Call, answer);
          if (change) noteChange(change);
          return answer;
        }
      : handled;
  if (route.audit && caller && record) {
    const audited = async () => {
      const answer = await work();
      await recordAct(route, call as Call, answer, record, log);
      return answer;
    };
    return claim ? inFlight.run(caller, claim, audited) : audited();
  }
  return caller && claim ? inFlight.run(caller, claim, work) : work();
}
