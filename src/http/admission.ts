import { type Authenticate, identify } from './authenticate.ts';
import type { ClientAddress } from './client-address.ts';
import type { Endpoint } from './endpoint.ts';
import { Failure } from './failure.ts';
import type { RateLimiter, Standing } from './rate-limit.ts';
import type { Caller } from './route.ts';

/** What is needed to know who calls and whether they may. */
export interface AdmissionDeps {
  readonly authenticate: Authenticate;
  /** Finds the caller behind the session cookie of a browser; absent where no route takes one. */
  readonly session?: (headers: Headers) => Caller | null | Promise<Caller | null>;
  readonly limiter: RateLimiter;
  readonly clientAddress: ClientAddress;
}

/** One request as far as admission is concerned. */
export interface Applicant {
  /** Null where the path or the method is unknown. */
  readonly endpoint: Endpoint | null;
  readonly request: Request;
  readonly socketAddress: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Where the client stands, for the headers of whatever is answered; null until it was counted. */
  standing: Standing | null;
}

/** An endpoint that may be used, and by whom; nobody is known to call a public one. */
export interface Admitted {
  readonly endpoint: Endpoint;
  readonly caller: Caller | null;
}

/** There is no such path, or it does not answer to that method. */
export const NO_ROUTE = new Failure('NOT_FOUND', 'No such endpoint.', {
  suggestion: 'Compare the method and the path with the reference at /docs.',
});

const NO_SESSION = new Failure('UNAUTHORIZED', 'This request carries no session, or it has ended.', {
  suggestion: 'Open /inspector and exchange an API key for a session.',
});

/** The checks that need no look at what was sent: address limit, authentication, key limit, route, permission and test mode. */
export async function admit(applicant: Applicant, deps: AdmissionDeps): Promise<Admitted | Failure> {
  const { endpoint, request, now } = applicant;
  const client = deps.clientAddress(applicant.socketAddress, request.headers);
  applicant.standing = await deps.limiter.byAddress(client, endpoint?.ownLimit);
  if (applicant.standing?.isOver) return tooManyFrom(applicant.standing);
  if (endpoint?.isPublic) return { endpoint, caller: null };

  const caller =
    endpoint?.route.permission === 'session'
      ? ((await deps.session?.(request.headers)) ?? NO_SESSION)
      : await identify(request.headers, deps.authenticate);
  if (caller instanceof Failure) return caller;
  if (await deps.limiter.byKey(caller.keyId, now)) {
    // The headers speak of the address alone; beside a refusal of the key they would mislead (interface, Limits 5).
    applicant.standing = null;
    return tooManyWithKey(deps.limiter.perKey);
  }
  if (!endpoint) return NO_ROUTE;
  return endpoint.refuse(caller) ?? { endpoint, caller };
}

/** An address is over its limit. */
export const tooManyFrom = ({ limit, resetSeconds }: Standing) =>
  new Failure(
    'RATE_LIMITED',
    `More than ${limit} requests in a minute came from this address. Retry in ${resetSeconds} seconds.`,
    { retryAfterSeconds: resetSeconds },
  );

const tooManyWithKey = (limit: number) =>
  new Failure('RATE_LIMITED', `Rate limit exceeded: ${limit} requests/second per API key.`, {
    suggestion: 'Retry with exponential backoff and jitter.',
  });
