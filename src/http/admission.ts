import { type Authenticate, identify } from '../auth/api-key.ts';
import type { Principal } from '../auth/principal.ts';
import { isFromOwnPage, OTHER_SITE } from '../auth/same-origin.ts';
import type { Endpoint } from './endpoint.ts';
import { Failure } from './failure.ts';
import type { ClientAddress } from './limits/client-address.ts';
import type { RateLimiter, RateLimitStatus } from './limits/rate-limit.ts';
import type { Route } from './route.ts';

/** The parts of the service that authentication and rate limits use. */
export interface AdmissionDeps {
  readonly authenticate: Authenticate;
  /** Finds the principal of a session cookie; absent when no route takes one. */
  readonly session?: (headers: Headers) => Principal | null | Promise<Principal | null>;
  /** The public URL of the service without a trailing slash. The links in errors begin with it. */
  readonly baseUrl: string;
  readonly limiter: RateLimiter;
  readonly clientAddress: ClientAddress;
}

/** The parts of a request that admission uses. */
export interface AdmissionRequest {
  /** Null when the path or the method is unknown. */
  readonly endpoint: Endpoint | null;
  readonly request: Request;
  readonly socketAddress: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The address of the client; empty until admission has found it. */
  client: string;
  /** The state of the address limit for the headers of the answer; null until the request was counted. */
  rateLimit: RateLimitStatus | null;
  /** Whose request it is; null until admission has found out. */
  callerId: string | null;
}

/** An endpoint and the caller who may use it; null for a public endpoint. */
export interface Admitted {
  readonly endpoint: Endpoint;
  readonly caller: Principal | null;
}

/** The refusal of an unknown path, or of a method that the path does not support. */
export const NO_ROUTE = new Failure('NOT_FOUND', 'No such endpoint.', {
  suggestion: 'Compare the method and the path with the reference at /docs.',
});

const NO_SESSION = new Failure('UNAUTHORIZED', 'This request carries no session, or it has ended.', {
  suggestion: 'Sign in at /app, or open /inspector and exchange an API key for a session.',
});

/** Makes the checks that need neither query nor body: address limit, authentication, key limit, route, permission and test mode. */
export async function admit(asking: AdmissionRequest, deps: AdmissionDeps): Promise<Admitted | Failure> {
  const { endpoint, request, now } = asking;
  const client = deps.clientAddress(asking.socketAddress, request.headers);
  asking.client = client;
  asking.rateLimit = await deps.limiter.byAddress(client, endpoint?.ownLimit);
  if (asking.rateLimit?.isOver) return tooManyFrom(asking.rateLimit);
  if (endpoint?.isPublic) return { endpoint, caller: null };

  const caller =
    endpoint?.route.credential === 'session'
      ? await bySession(request, endpoint.route, deps)
      : await identify(request.headers, deps.authenticate);
  if (caller instanceof Failure) return caller;
  asking.callerId = caller.id;
  if (await deps.limiter.byKey(caller.id, now)) {
    // The rate limit headers describe the address alone; beside a refusal of the key they would mislead.
    asking.rateLimit = null;
    return tooManyWithKey(deps.limiter.perKey);
  }
  if (!endpoint) return NO_ROUTE;
  return endpoint.refuse(caller) ?? { endpoint, caller };
}

/**
 * Identifies the caller by a session cookie. A browser also attaches it to requests that other sites trigger, so a request
 * that changes something must come from a page of this service.
 */
async function bySession(
  { method, headers }: Request,
  { environment }: Route,
  { session, baseUrl }: AdmissionDeps,
): Promise<Principal | Failure> {
  const principal = await session?.(headers);
  if (!principal) return NO_SESSION;
  if (!isSafe(method) && !isFromOwnPage(headers, baseUrl)) return OTHER_SITE;
  const expected = headers.get('x-svc-workspace');
  if (expected !== null && expected !== principal.workspaceId) return SWITCHED;
  return environment === undefined ? principal : { ...principal, livemode: environment === 'live' };
}

/** A page says for which workspace it was made, since another tab of the same browser may have switched to another one. */
export const SWITCHED = new Failure('CONFLICT', 'This session works in another workspace by now.', {
  suggestion: 'Load the page again, or switch back with POST /app/api/workspaces/{id}/switch.',
});

/** True for methods that change nothing (RFC 9110, 9.2.1). */
const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** The refusal of an address that is over its limit. */
export const tooManyFrom = ({ limit, resetSeconds }: RateLimitStatus) =>
  new Failure(
    'RATE_LIMITED',
    `More than ${limit} requests in a minute came from this address. Retry in ${resetSeconds} seconds.`,
    { retryAfterSeconds: resetSeconds },
  );

const tooManyWithKey = (limit: number) =>
  new Failure('RATE_LIMITED', `Rate limit exceeded: ${limit} requests/second per API key.`, {
    suggestion: 'Retry with exponential backoff and jitter.',
  });
