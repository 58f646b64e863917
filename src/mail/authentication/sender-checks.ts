import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { type PoolLimits, startThread, WorkerPool } from '../../platform/threads/worker-pool.ts';
import type { NameServer } from '../dns/exchange.ts';
import type { ReceivedMessage } from './check-sender.ts';
import { type SenderResults, UNCHECKED } from './sender-results.ts';
import type { SenderQuestion } from './sender-thread.ts';

/** Checks the senders of messages in threads of their own, since hashing 25 MiB takes half a second. */
export interface SenderChecks {
  /** The results of a message. @throws UnavailableError when no thread is free */
  check(message: ReceivedMessage): Promise<SenderResults>;
  /** Ends the threads; waiting calls reject with UnavailableError. */
  close(): void;
}

/** A thread waits for DNS up to 20 s; the deadline is of its processor time. */
const LIMITS: PoolLimits = {
  threads: 2,
  deadlineMs: 5_000,
  startMs: 10_000,
  mostWaiting: 64,
  idleMs: 60_000,
};

/** Inside the executable, import.meta.url is that of a file beside src/main.ts. */
const ENTRY = new URL(
  import.meta.url.endsWith('/sender-checks.ts')
    ? './sender-thread.ts'
    : './mail/authentication/sender-thread.ts',
  import.meta.url,
);

/** Creates the threads' pool; they start with the first message. `servers` is read for each message. */
export function createSenderChecks(
  servers: () => readonly NameServer[],
  limits: Partial<PoolLimits> = {},
): SenderChecks {
  const pool = new WorkerPool<SenderQuestion, SenderResults>(
    'Checking senders',
    { ...LIMITS, ...limits },
    () => startThread<SenderQuestion, SenderResults>(ENTRY),
  );
  return {
    async check(message) {
      try {
        return await pool.ask({ ...message, servers: servers() });
      } catch (reason) {
        if (reason instanceof UnavailableError) throw reason;
        return UNCHECKED;
      }
    },
    close: () => pool.close(),
  };
}
