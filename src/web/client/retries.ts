/** The facts about a failed attempt. */
export interface FailedAttempt {
  readonly method: string;
  /** The code of the error. */
  readonly code: string;
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;
}

/** The bounds of waiting, in milliseconds. */
export interface Backoff {
  /** The first wait is up to this, and each further one up to twice the one before. */
  readonly firstMs: number;
  /** No wait is longer. A `Retry-After` beyond it ends the call with its error. */
  readonly mostMs: number;
}

/** Refusals that changed nothing and pass by themselves, so that any request may be retried. */
const PASSING = new Set(['RATE_LIMITED', 'IDEMPOTENCY_IN_PROGRESS']);

/** Failures after which the outcome of the request is unknown. */
const DOUBTFUL = new Set(['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'CONNECTION_FAILED', 'TIMED_OUT']);

/** The statuses with which proxies answer while the service behind them is away. */
const OF_PROXIES = new Set([408, 502, 503, 504]);

/**
 * POST is repeated under its idempotency key. A PATCH or DELETE that was carried out may be refused the
 * second time (409, 404), and that refusal would hide the success.
 */
const REPEATABLE = new Set(['GET', 'POST', 'PUT']);

const mayRepeat = ({ method, code, status }: FailedAttempt): boolean =>
  PASSING.has(code) ||
  (REPEATABLE.has(method) &&
    (DOUBTFUL.has(code) || (code === 'UNEXPECTED_ANSWER' && status !== null && OF_PROXIES.has(status))));

/**
 * Milliseconds to wait before a retry; null for no retry. `attempt` counts from 1. The wait is random up to a
 * bound that doubles, so that clients which failed together do not return together; a part of it is added to
 * a `Retry-After`.
 */
export function waitAfter(
  failure: FailedAttempt,
  attempt: number,
  { firstMs, mostMs }: Backoff,
  random: () => number = Math.random,
): number | null {
  if (!mayRepeat(failure)) return null;
  const jitter = random() * Math.min(mostMs, firstMs * 2 ** (attempt - 1));
  const { retryAfterSeconds } = failure;
  if (retryAfterSeconds === null) return jitter;
  const asked = retryAfterSeconds * 1_000;
  return asked > mostMs ? null : asked + jitter;
}

/** `Retry-After` in seconds, from seconds or a date (RFC 9110, 10.2.3); null without a usable one. */
export function retryAfterOf(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - nowMs) / 1_000));
}

/** Waits, unless the signal ends it: then it rejects with the reason. */
export const wait = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
