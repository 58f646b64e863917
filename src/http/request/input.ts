import { BodyBudget } from '../../platform/async/body-budget.ts';
import type { BudgetLimits } from '../../platform/async/keyed-budget.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import { bodyStream, orBroken } from '../body/body-stream.ts';
import { announcedLength, NO_BODY, NO_ROOM, readBody, unsupported } from '../body/read-body.ts';
import { type AdmissionDeps, admitLate, CERTAIN_MS, refused } from './admission.ts';
import type { Endpoint } from './endpoint.ts';
import type { AdmittedRequest, Exchange, RequestInput, WithExchange } from './exchange.ts';
import { ReceivedBody } from './route.ts';

/** The parts of the service that the reading of requests uses. */
export interface InputDeps extends AdmissionDeps {
  readonly bodyBudget?: BudgetLimits | undefined;
  /** The time for the arrival of a body, in milliseconds. */
  readonly bodyMs: number;
}

/**
 * The hooks that read what a request says, and check it against the schemas of its endpoint. Elysia's own
 * parser and validator are not used: they run before `beforeHandle`, and so before the caller is known.
 */
export const input = (deps: InputDeps) => {
  const bodies = new BodyBudget(deps.bodyBudget);
  return {
    /** Media type, size and syntax of the body; then the schemas of the query and the body. */
    input: ({ exchange }: WithExchange) => readInput(exchange, bodies, deps),
    /** Removes what a request has stored and not kept, once its work has really ended. */
    stored: ({ exchange }: Partial<WithExchange>) => release(exchange),
    /** The form of the ids in the path. */
    ids: ({ exchange }: WithExchange) => checkIds(exchange, deps),
  };
};

function readInput(exchange: Exchange, bodies: BodyBudget, deps: InputDeps): unknown {
  const { admitted } = exchange;
  if (!admitted) return undefined;
  const reading = read(exchange, admitted, deps.bodyMs, bodies);
  // The time that the client takes to send its body does not count against the work.
  return reading instanceof Promise
    ? exchange.time.except(reading).then((sent) => take(exchange, sent, deps))
    : take(exchange, reading, deps);
}

function take(exchange: Exchange, sent: RequestInput | Failure, deps: InputDeps): unknown {
  if (sent instanceof Failure) return refused(exchange, sent, deps);
  exchange.input = sent;
  return exchange.age > CERTAIN_MS ? admitLate(exchange, deps) : undefined;
}

function checkIds(exchange: Exchange, deps: InputDeps): unknown {
  const absent = exchange.endpoint?.refuseParams(exchange.params);
  return absent ? refused(exchange, absent, deps) : undefined;
}

async function release(exchange: Exchange | undefined): Promise<void> {
  if (!exchange) return;
  const body = exchange.input?.body;
  exchange.input = null;
  if (body instanceof ReceivedBody) await body.release();
}

/**
 * The text after `?`; empty when there is none. Unlike `new URL` this accepts malformed targets and hosts.
 */
function searchOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}

function read(
  exchange: Exchange,
  admitted: AdmittedRequest,
  bodyMs: number,
  bodies: BodyBudget,
): RequestInput | Failure | Promise<RequestInput | Failure> {
  const { endpoint, caller } = admitted;
  const { request } = exchange;
  const search = searchOf(request.url);
  if (endpoint.route.receive) return receive(exchange, search, admitted, bodyMs, bodies);
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
  const bodyDetails = (value instanceof Uint8Array ? null : rules?.check?.(value, '/body')) ?? [];
  if (query instanceof Failure) return invalid([...(query.extra.details ?? []), ...bodyDetails]);
  return bodyDetails.length > 0 ? invalid(bodyDetails) : { query, body: value };
}

/** Lets the endpoint store the body in pieces. The query is checked before the first of them. */
async function receive(
  { request, now }: Exchange,
  search: string,
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
