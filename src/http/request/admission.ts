import { untilNextTurn } from '../../platform/async/batcher.ts';
import { SMALL } from '../../platform/async/body-budget.ts';
import type { ClientAddress } from '../../platform/config/client-address.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { type Authenticate, identify } from '../auth/api-key.ts';
import type { KeyPrincipal, Principal } from '../auth/principal.ts';
import { certainly } from '../auth/recollection.ts';
import { workspaceNamedBy } from '../auth/sessions/named-workspace.ts';
import { isFromOwnPage, OTHER_SITE } from '../auth/sessions/same-origin.ts';
import { NO_SUCH_WORKSPACE } from '../auth/sessions/sessions.ts';
import type { RateLimiter, RateLimitStatus } from '../limits/rate-limit.ts';
import type { Log } from '../log.ts';
import type { Endpoint } from './endpoint.ts';
import type { AdmittedRequest, Exchange, WithExchange } from './exchange.ts';
import { DASHBOARD_API, RawResponse, type Route } from './route.ts';

/** The parts of the service that authentication and rate limits use. */
export interface AdmissionDeps {
  readonly authenticate: Authenticate;
  /** The principal of a key as it was found lately, for routes whose commit judges it. */
  readonly remembered?: (key: string) => KeyPrincipal | null;
  /** Finds the principal of a session cookie in the named workspace; absent when no route takes one. */
  readonly session?: (
    headers: Headers,
    workspaceId: string | null,
  ) => Principal | Failure | null | Promise<Principal | Failure | null>;
  /** The public URL of the service without a trailing slash. The links in errors begin with it. */
  readonly baseUrl: string;
  readonly limiter: RateLimiter;
  readonly clientAddress: ClientAddress;
}

type LoggingDeps = AdmissionDeps & { readonly log: Log };

/** The parts of a request that admission uses. */
export interface AdmissionRequest {
  /** Null when the path or the method is unknown. */
  readonly endpoint: Endpoint | null;
  readonly request: Request;
  /** As it was sent. It is read off no URL: of a Host that is none there is no URL. */
  readonly path: string;
  readonly socketAddress: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The address of the client; empty until admission has found it. */
  client: string;
  /** The state of the address limit for the headers of the answer; null until the request was counted. */
  rateLimit: RateLimitStatus | null;
  /** The caller, also one who is refused; null until admission has found it. */
  caller: Principal | null;
  /** True once it was counted against the limit of its key, and is within it. */
  isCounted: boolean;
}

/**
 * A request that lasts longer than this is admitted again as it goes on, at most once in that time: a key may
 * be revoked meanwhile, a member removed or given another role, a session ended. An export of all contacts
 * takes minutes.
 */
export const CERTAIN_MS = 1_000;

/** The refusal of an unknown path, or of a method that the path does not support. */
export const NO_ROUTE = new Failure('NOT_FOUND', 'No such endpoint.', {
  suggestion: 'Compare the method and the path with the reference at /docs.',
});

/** A client that joins a base URL with a slash at its end and a path asks for two slashes. */
const TWO_SLASHES = new Failure('NOT_FOUND', 'No such endpoint.', {
  suggestion: 'The path has two slashes in a row. Remove the one at the end of the base URL of your client.',
});

const NO_SESSION = new Failure('UNAUTHORIZED', 'This request has no session, or the session has ended.', {
  suggestion: 'Sign in at /app, or open /inspector and exchange an API key for a session.',
});

/**
 * The hook that lets a request in, or answers it with the reason for which it may not come in: address limit,
 * authentication, key limit, existence of the endpoint, permission, test mode.
 */
export const admission =
  (deps: AdmissionDeps) =>
  ({ exchange }: WithExchange) =>
    admit(exchange, deps);

/** A refusal after admission. Like every answer, it goes only to a caller who is certain. */
export const refused = (exchange: Exchange, failure: Failure, deps: AdmissionDeps): unknown =>
  exchange.admitted ? answeredBy(exchange.admitted, exchange, () => failure, deps) : failure;

/**
 * Makes the checks that need neither query nor body: address limit, authentication, key limit, route,
 * permission and test mode.
 */
async function admit(exchange: Exchange, deps: AdmissionDeps): Promise<Failure | undefined> {
  const { endpoint, request } = exchange;
  const client = deps.clientAddress(exchange.socketAddress, request.headers);
  exchange.client = client;
  exchange.rateLimit = await deps.limiter.byAddress(client, endpoint?.ownLimit);
  if (exchange.rateLimit?.isOver) return tooManyFrom(exchange.rateLimit);
  if (endpoint?.isPublic) return enter(exchange, { endpoint, caller: null });

  const known = rememberedCaller(exchange, deps);
  if (known) {
    // The server hands a body over once the handler has returned, even one that came with its head. A look-up
    // takes that long anyway; without one, this turn of the event loop is needed.
    await untilNextTurn();
    const { rateLimit } = exchange;
    const admitted = await admitCaller(known, exchange, deps);
    if (!(admitted instanceof Failure)) return enter(exchange, admitted);
    // Remembered permissions never refuse a request, because they may have been extended since.
    exchange.rateLimit = rateLimit;
  }
  return enter(exchange, await admitAnew(exchange, deps));
}

function enter(exchange: Exchange, admitted: AdmittedRequest | Failure): Failure | undefined {
  if (admitted instanceof Failure) return admitted;
  exchange.admitted = admitted;
  return undefined;
}

/** The answer of `work` to a caller, for one who is remembered once it is certain who that is. */
export function answeredBy(
  admitted: AdmittedRequest,
  asking: AdmissionRequest,
  work: (by: AdmittedRequest) => unknown,
  deps: AdmissionDeps,
): unknown {
  const { caller } = admitted;
  const recollection = caller?.kind === 'key' ? caller.recollection : undefined;
  if (recollection)
    return certainly<AdmittedRequest, unknown>(recollection, () => work(admitted), {
      readmit: () => admitAnew(asking, deps),
      termsOf: ({ caller: found }) => (found?.kind === 'key' ? found.terms : undefined),
      again: work,
    });
  const { method, waitsMs } = admitted.endpoint.route;
  return waitsMs !== undefined && isSafe(method)
    ? stillAllowed(admitted, asking, work, deps)
    : work(admitted);
}

/**
 * The answer after a wait goes only to a caller who may still see it: a key revoked a minute ago must not get
 * a code that arrived since.
 */
async function stillAllowed(
  admitted: AdmittedRequest,
  asking: AdmissionRequest,
  work: (by: AdmittedRequest) => unknown,
  deps: AdmissionDeps,
): Promise<unknown> {
  const answered = await work(admitted);
  const again = await readmit(admitted, asking, deps);
  return again instanceof Failure ? again : answered;
}

/** The same caller, looked up again; the refusal of one who may not go on. @throws UnavailableError */
async function readmit(
  { caller }: AdmittedRequest,
  asking: AdmissionRequest,
  deps: AdmissionDeps,
): Promise<AdmittedRequest | Failure> {
  const again = await admitAnew(asking, deps);
  if (again instanceof Failure) return again;
  return again.caller?.workspaceId === caller?.workspaceId ? again : SWITCHED;
}

/**
 * Admits a request again whose body took its time, before anything is done. A commit that judges its caller
 * needs no look-up. @throws UnavailableError
 */
export async function admitLate(exchange: Exchange, deps: AdmissionDeps): Promise<Failure | undefined> {
  const { admitted } = exchange;
  const caller = admitted?.caller;
  if (!caller || (caller.kind === 'key' && caller.recollection)) return undefined;
  const again = await readmit(admitted, exchange, deps);
  if (again instanceof Failure) return again;
  exchange.admitted = again;
  return undefined;
}

/**
 * The answer for as long as its caller may see it. A streamed one breaks off when that is over, so that the
 * client does not take a part for the whole.
 */
export function whileAdmitted(answer: unknown, exchange: Exchange, deps: LoggingDeps): unknown {
  const { admitted } = exchange;
  if (!admitted?.caller || !(answer instanceof RawResponse)) return answer;
  const { content, contentType, extra } = answer;
  if (!(content instanceof ReadableStream)) return answer;
  return new RawResponse(contentType, content.pipeThrough(guard(admitted, exchange, deps)), extra);
}

/** Lets pieces through while the caller may see them. The caller is certain since the request arrived. */
function guard(
  admitted: AdmittedRequest,
  exchange: Exchange,
  deps: LoggingDeps,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let foundAt = 0;
  return new TransformStream({
    async transform(piece, controller) {
      const { age } = exchange;
      if (age - foundAt > CERTAIN_MS) {
        const again = await readmit(admitted, exchange, deps);
        if (again instanceof Failure) {
          const { requestId, client, caller, route } = exchange;
          deps.log.warn(
            { requestId, client, caller: caller?.id ?? null, route, reason: again.code },
            'An answer broke off, since its caller may not see it any more',
          );
          throw new Error(again.message);
        }
        foundAt = age;
      }
      controller.enqueue(piece);
    },
  });
}

/** Finds the caller in the database, and makes the checks that depend on who it is. */
async function admitAnew(asking: AdmissionRequest, deps: AdmissionDeps): Promise<AdmittedRequest | Failure> {
  const { endpoint, request } = asking;
  const caller = isForSessions(asking)
    ? await bySession(request, endpoint?.route.environment, deps)
    : await identify(request.headers, deps.authenticate);
  return caller instanceof Failure ? caller : admitCaller(caller, asking, deps);
}

/** True for requests of pages: an API key would not help there, even for an unknown endpoint. */
const isForSessions = ({ endpoint, path }: AdmissionRequest): boolean =>
  endpoint ? endpoint.route.credential === 'session' : path.startsWith(`${DASHBOARD_API}/`);

/**
 * The caller as found for an earlier request, where the commit behind the answer checks it; null where a
 * look-up is needed. A large body, or one without a stated size, is accepted only after a look-up, because
 * the key may have been revoked.
 */
function rememberedCaller(
  { endpoint, request }: AdmissionRequest,
  { remembered }: AdmissionDeps,
): KeyPrincipal | null {
  const { route } = endpoint ?? {};
  if (!remembered || !route?.judgesCaller || route.credential === 'session') return null;
  const length = request.headers.get('content-length');
  if (length === null || !(Number(length) <= SMALL)) return null;
  const caller = identify(request.headers, remembered);
  return caller instanceof Failure || caller instanceof Promise ? null : caller;
}

async function admitCaller(
  caller: Principal,
  asking: AdmissionRequest,
  { limiter }: AdmissionDeps,
): Promise<AdmittedRequest | Failure> {
  const { endpoint, now } = asking;
  asking.caller = caller;
  if (!asking.isCounted && (await limiter.byKey(caller.id, now))) {
    // The rate limit headers describe the address alone; beside a refusal of the key they would mislead.
    asking.rateLimit = null;
    return tooManyWithKey(limiter.perKey);
  }
  asking.isCounted = true;
  if (!endpoint) return asking.path.includes('//') ? TWO_SLASHES : NO_ROUTE;
  return endpoint.refuse(caller) ?? { endpoint, caller };
}

/**
 * Identifies the caller by a session cookie. A browser also attaches it to requests that other sites trigger,
 * so a request that changes something must come from a page of this service.
 */
async function bySession(
  request: Request,
  environment: Route['environment'],
  { session, baseUrl }: AdmissionDeps,
): Promise<Principal | Failure> {
  const { method, headers } = request;
  const named = workspaceNamedBy(request);
  const principal = await session?.(headers, named);
  if (!principal) return NO_SESSION;
  if (!isSafe(method) && !isFromOwnPage(headers, baseUrl)) return OTHER_SITE;
  if (principal instanceof Failure) return principal;
  // The session of a key or a printed link has one workspace.
  if (named !== null && named !== principal.workspaceId) return NO_SUCH_WORKSPACE;
  return environment === undefined ? principal : { ...principal, livemode: environment === 'live' };
}

/** A request that names no workspace has waited while the session moved to another one. */
export const SWITCHED = new Failure('CONFLICT', 'This session has switched to another workspace.', {
  suggestion: 'Reload the page, or switch back with POST /app/api/workspaces/{id}/switch.',
});

/** True for methods that change nothing (RFC 9110, 9.2.1). */
const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** The refusal of an address that is over its limit. */
export const tooManyFrom = ({ limit, resetSeconds }: RateLimitStatus) =>
  new Failure(
    'RATE_LIMITED',
    `More than ${limit} requests per minute came from this address. Retry in ${resetSeconds} seconds.`,
    { retryAfterSeconds: resetSeconds },
  );

const tooManyWithKey = (limit: number) =>
  new Failure('RATE_LIMITED', `Rate limit exceeded: ${limit} requests/second per API key.`, {
    suggestion: 'Retry with exponential backoff and jitter.',
  });
