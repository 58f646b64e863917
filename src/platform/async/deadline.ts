import { UnavailableError } from '../errors/unavailable.ts';

const deadlinePassed = (): Error => new UnavailableError('the deadline passed', 'unknown');

/**
 * Settles as `work` does, or rejects with the error of `late` after `ms`; the work itself continues, and its
 * result is dropped.
 */
export function within<T>(ms: number, work: Promise<T>, late: () => Error = deadlinePassed): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(late()), Math.max(0, ms));
  work.then(
    (value) => {
      clearTimeout(timer);
      resolve(value);
    },
    (reason: unknown) => {
      clearTimeout(timer);
      reject(reason);
    },
  );
  return promise;
}

/**
 * One timer for all work that is late at about the same moment, so that a request sets and clears no timer by
 * itself.
 */
const moments = new Map<number, Set<WorkTime>>();
/** The latest notice of a passed limit: a 128th of it too late, 62 ms of 7.9 s. */
const GRAIN = 128;

/** The limits that end at this moment, or a little later. */
function endingAt(moment: number, ms: number): Set<WorkTime> {
  const grain = Math.max(1, Math.floor(ms / GRAIN));
  const key = Math.ceil(moment / grain) * grain;
  const known = moments.get(key);
  if (known) return known;
  const ending = new Set<WorkTime>();
  moments.set(key, ending);
  const left = Math.max(0, key - performance.now());
  setTimeout(() => {
    moments.delete(key);
    for (const each of ending) each.end();
  }, left).unref();
  return ending;
}

/** A limit on the time that some work takes, which pauses while the work waits for others. */
export class WorkTime {
  #ending: Set<WorkTime> | undefined;
  #since: number;
  #late: (error: Error) => void = () => {};
  #isUsedUp = false;
  #usedUp: AbortController | undefined;

  constructor(
    private ms: number,
    private readonly monotonic: () => number,
  ) {
    this.#since = monotonic();
  }

  /**
   * Settles as `work` does, or rejects as `within` does once the time is used up; the work itself continues,
   * and its result is dropped.
   */
  limit<T>(work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#late = reject;
    this.#arm();
    void this.#settle(work, resolve, reject);
    return promise;
  }

  /** Grants more time. */
  extend(ms: number): void {
    this.#ending?.delete(this);
    this.ms += ms;
    this.#arm();
  }

  /** Waits for work that does not count. */
  async except<T>(waited: Promise<T>): Promise<T> {
    this.#ending?.delete(this);
    this.ms -= this.monotonic() - this.#since;
    try {
      return await waited;
    } finally {
      this.#since = this.monotonic();
      this.#arm();
    }
  }

  /** True once its user got the answer that the deadline passed. */
  get isUsedUp(): boolean {
    return this.#isUsedUp;
  }

  /** Aborts when the time is used up. Few ask for it, so that it is made for those alone. */
  get usedUp(): AbortSignal {
    this.#usedUp ??= new AbortController();
    if (this.#isUsedUp) this.#usedUp.abort();
    return this.#usedUp.signal;
  }

  /** The time is used up. */
  end(): void {
    this.#isUsedUp = true;
    this.#usedUp?.abort();
    this.#late(deadlinePassed());
  }

  async #settle<T>(
    work: () => Promise<T>,
    resolve: (value: T) => void,
    reject: (reason: unknown) => void,
  ): Promise<void> {
    try {
      resolve(await work());
    } catch (reason) {
      reject(reason);
    } finally {
      this.#ending?.delete(this);
    }
  }

  #arm(): void {
    const ms = Math.max(0, this.ms);
    this.#ending = endingAt(performance.now() + ms, ms).add(this);
  }
}

/** Resolves with whether `work` was done within `ms`; rejects as it does. */
export async function isDoneWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = new Error('late');
  try {
    await within(ms, work, () => late);
    return true;
  } catch (reason) {
    if (reason === late) return false;
    throw reason;
  }
}

/**
 * Runs `work` with a signal that fires at the caller's abort or at the deadline, whichever is first, and
 * leaves no timer and no listener behind. (`AbortSignal.timeout` would keep one timer per message for minutes
 * after the message has gone.)
 *
 * An answer that waits in a socket at the deadline is still read. A process that was stopped past it runs its
 * timers before it reads its sockets, and would give up on an answer that came in time.
 */
export const withDeadline = async <T>(
  { signal, deadlineMs }: { readonly signal?: AbortSignal | undefined; readonly deadlineMs: number },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer = setTimeout(() => {
    timer = setTimeout(abort, 0);
  }, deadlineMs);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
};

/** Rejects with the error that `reason` makes when the signal fires; otherwise as `promise` does. */
export const orAborted = <T>(promise: Promise<T>, signal: AbortSignal, reason: () => Error): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(reason());
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

/** True once the client got the answer that the deadline passed: no write may follow. */
export type GivenUp = () => boolean;

/**
 * Makes a signal that aborts when no client reads the answer any more: it has hung up, or got the answer that
 * the deadline passed. The server watches the connection from then on, so only work that may wait for long
 * asks for it.
 */
export type HangUpSignal = () => AbortSignal;
