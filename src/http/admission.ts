import { type Authenticate, identify } from '../auth/key-credentials.ts';
import type { Principal } from '../auth/principal.ts';
import { isFromOwnPage, OTHER_SITE } from '../auth/same-origin.ts';
import type { Endpoint } from './endpoint.ts';
import { Failure } from './failure.ts';
import type { ClientAddress } from './limits/client-address.ts';
import type { RateLimiter, RateLimitStatus } from './limits/rate-limit.ts';

/** What is needed to know who calls and whether they may. */
export interface AdmissionDeps {
  readonly authenticate: Authenticate;
  /** Finds who is behind the session cookie of a browser; absent where no route takes one. */
  readonly session?: (headers: Headers) => Principal | null | Promise<Principal | null>;
  /** Where this service is reached, without a trailing slash; the links of errors begin with it. */
  readonly baseUrl: string;
  readonly limiter: RateLimiter;
  readonly clientAddress: ClientAddress;
}

/** One request as far as admission is concerned. */
export interface AdmissionRequest {
  /** Null where the path or the method is unknown. */
  readonly endpoint: Endpoint | null;
  readonly request: Request;
  readonly socketAddress: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Where the client stands, for the headers of whatever is answered; null until it was counted. */
  rateLimit: RateLimitStatus | null;
}

/** An endpoint that may be used, and by whom; nobody is known to call a public one. */
export interface Admitted {
  readonly endpoint: Endpoint;
  readonly caller: Principal | null;
}

/** There is no such path, or it does not answer to that method. */
export const NO_ROUTE = new Failure('NOT_FOUND', 'No such endpoint.', {
  suggestion: 'Compare the method and the path with the reference at /docs.',
});

const NO_SESSION = new Failure('UNAUTHORIZED', 'This request carries no session, or it has ended.', {
  suggestion: 'Open /inspector and exchange an API key for a session.',
});

/** The checks that need no look at what was sent: address limit, authentication, key limit, route, permission and test mode. */
export async function admit(applicant: AdmissionRequest, deps: AdmissionDeps): Promise<Admitted | Failure> {
  const { endpoint, request, now } = applicant;
  const client = deps.clientAddress(applicant.socketAddress, request.headers);
  applicant.rateLimit = await deps.limiter.byAddress(client, endpoint?.ownLimit);
  if (applicant.rateLimit?.isOver) return tooManyFrom(applicant.rateLimit);
  if (endpoint?.isPublic) return { endpoint, caller: null };

  const caller =
    endpoint?.route.credential === 'session'
      ? await bySession(request, deps)
      : await identify(request.headers, deps.authenticate);
  if (caller instanceof Failure) return caller;
  if (await deps.limiter.byKey(caller.id, now)) {
    // The headers speak of the address alone; beside a refusal of the key they would mislead.
    applicant.rateLimit = null;
    return tooManyWithKey(deps.limiter.perKey);
  }
  if (!endpoint) return NO_ROUTE;
  return endpoint.refuse(caller) ?? { endpoint, caller };
}

/**
 * Who asks with the session of a browser. A cookie goes along whoever makes the browser ask, so what changes something must
 * come from a page of this service.
 */
async function bySession(
  { method, headers }: Request,
  { session, baseUrl }: AdmissionDeps,
): Promise<Principal | Failure> {
  const principal = await session?.(headers);
  if (!principal) return NO_SESSION;
  return isSafe(method) || isFromOwnPage(headers, baseUrl) ? principal : OTHER_SITE;
}

/** RFC 9110, 9.2.1: methods that change nothing. */
const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** An address is over its limit. */
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
