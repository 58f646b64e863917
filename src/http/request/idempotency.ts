import { Failure, invalidAt } from '../../platform/errors/failure.ts';
import type { Principal } from '../auth/principal.ts';
import { type AdmissionDeps, refused } from './admission.ts';
import type { Exchange, WithExchange } from './exchange.ts';
import { type IdempotencyClaim, type OwnHeader, ReceivedBody, Replay } from './route.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

const BAD_KEY = invalidAt(
  '/headers/idempotency-key',
  'Use 1 to 255 visible ASCII characters, preferably a UUID.',
);
const IN_PROGRESS = new Failure(
  'IDEMPOTENCY_IN_PROGRESS',
  'A request with this Idempotency-Key is still being processed.',
  { suggestion: 'Wait a moment, then send the same request again to get the reply of the first one.' },
);
const CONFLICT = new Failure('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used for another request.', {
  suggestion: 'Use a new key for a new request. To get the stored reply again, send the original request.',
});

/**
 * The hook that reads the Idempotency-Key of a request. `InFlight` holds it while the handler works, and the
 * commit of the handler stores it.
 */
export const idempotency =
  (deps: AdmissionDeps) =>
  ({ exchange }: WithExchange) =>
    claim(exchange, deps);

function claim(exchange: Exchange, deps: AdmissionDeps): unknown {
  const claimed = claimOf(exchange.request.headers, () => fingerprinted(exchange));
  if (claimed instanceof Failure) return refused(exchange, claimed, deps);
  exchange.claim = claimed;
  return undefined;
}

/** The parts of a request that its fingerprint covers. */
export interface FingerprintedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** The values of the endpoint's own headers (`Route.headers`) that were sent. */
  readonly said?: Readonly<Record<string, string>>;
}

function fingerprinted({ request, endpoint, path, input }: Exchange): FingerprintedRequest {
  if (!endpoint || !input) throw new Error('The body of the request has not been read.');
  const { method, headers: own } = endpoint.route;
  return { method, path, said: saidBy(request.headers, own), ...input };
}

/**
 * The claim of a request by its Idempotency-Key header; null when it has none, as most: then nothing is put
 * together for it.
 */
export function claimOf(
  headers: Headers,
  request: () => FingerprintedRequest,
): IdempotencyClaim | Failure | null {
  const key = headers.get('idempotency-key');
  return key === null ? null : claimBy(key, request());
}

/** The claim of a key from any source. A key that no HTTP header can hold is refused. */
export function claimBy(
  key: string | null,
  request: FingerprintedRequest,
): IdempotencyClaim | Failure | null {
  if (key === null) return null;
  return KEY.test(key) ? { key, fingerprint: fingerprintOf(request) } : BAD_KEY;
}

/** The values of an endpoint's own headers in a request. */
export const saidBy = (headers: Headers, own: readonly OwnHeader[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    own.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );

/**
 * Hashes a request. The order of members does not matter, because a client may serialise its retry
 * differently.
 */
export function fingerprintOf({ method, path, query, body, said = {} }: FingerprintedRequest): string {
  const hash = new Bun.CryptoHasher('sha256').update(`${method}\n${path}\n${canonical(query)}\n`);
  // A request without them keeps the fingerprint that earlier versions gave it.
  if (Object.keys(said).length > 0) hash.update(`${canonical(said)}\n`);
  if (body instanceof ReceivedBody) return hash.update(body.digest).digest('hex');
  return (body instanceof Uint8Array ? hash.update(body) : hash.update(canonical(body))).digest('hex');
}

/**
 * Answers a request from the stored reply of its key, or with a conflict when the key was used for another
 * request. `read` is not called in a conflict, because the reply of another endpoint may be sealed.
 */
export function replayOf(
  claim: IdempotencyClaim,
  stored: { readonly fingerprint: string; readonly status: number },
  read: () => unknown,
): Replay | Failure {
  return stored.fingerprint === claim.fingerprint ? new Replay(stored.status, read()) : CONFLICT;
}

/**
 * The keys of the requests that this process is working on. A duplicate is refused here without waiting for
 * the first one's commit; duplicates on other instances meet the row that the engine writes with the action.
 */
export class InFlight {
  private readonly keys = new Set<string>();

  /**
   * Runs the work unless the key is in use. The key is held until the work really ends, also after a timeout.
   */
  run(caller: Principal, claim: IdempotencyClaim, work: () => unknown): unknown {
    const key = `${caller.workspaceId} ${caller.livemode} ${claim.key}`;
    if (this.keys.has(key)) return IN_PROGRESS;
    this.keys.add(key);
    return this.settle(key, work);
  }

  private async settle(key: string, work: () => unknown): Promise<unknown> {
    try {
      return await work();
    } finally {
      this.keys.delete(key);
    }
  }
}

/**
 * Serialises JSON with the members of every object in order. The value came from JSON and is at most 32
 * levels deep.
 */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}
