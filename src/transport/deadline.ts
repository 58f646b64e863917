import type { SendLimits } from './transport.ts';

/**
 * Runs `work` with a signal that fires at the caller's abort or at the deadline, whichever is first, and leaves no
 * timer and no listener behind. (`AbortSignal.timeout` would keep one timer per message for minutes after the message
 * has gone.)
 */
export const withDeadline = async <T>(
  { signal, deadlineMs }: SendLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, deadlineMs);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
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
