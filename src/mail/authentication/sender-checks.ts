import { within } from '../../platform/async/deadline.ts';
import { FairQueue } from '../../platform/async/fair-slots.ts';
import { clientKey } from '../../platform/config/client-address.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { isTimeout, type PoolLimits, startThread, WorkerPool } from '../../platform/threads/worker-pool.ts';
import type { NameServer } from '../dns/exchange.ts';
import type { ReceivedMessage } from './check-sender.ts';
import { type SenderResults, UNCHECKED } from './sender-results.ts';
import type { SenderQuestion } from './sender-thread.ts';

/** Checks the senders of messages in separate threads, since hashing 25 MiB takes half a second. */
export interface SenderChecks {
  /**
   * The results of a message, whose lookups take at most `withinMs`, 20 seconds when left out. @throws
   * UnavailableError when no thread is free
   */
  check(message: ReceivedMessage, withinMs?: number): Promise<SenderResults>;
  /**
   * Starts a thread that stays: to start one takes seconds on a busy machine, and a message would be taken
   * without results.
   */
  keepOne(): void;
  /** Ends the threads; waiting calls reject with UnavailableError. */
  close(): void;
}

/** A client waits for its reply; RFC 5321 4.5.3.2.6 lets it wait ten minutes. */
const CHECK_MS = 5_000;
/** The lookups end before, so that those results that came in time are known. */
const LOOKUPS_MS = 4_000;

/**
 * The results of a message that arrives; null where there are none in time, which is never a reason to refuse
 * it.
 */
export const checkedInTime = (
  checks: Pick<SenderChecks, 'check'>,
  message: ReceivedMessage,
): Promise<SenderResults | null> => within(CHECK_MS, checks.check(message, LOOKUPS_MS)).catch(() => null);

/**
 * A question waits for DNS up to 20 s, so that a thread answers several at once; the deadline is of its
 * processor time.
 */
const LIMITS: PoolLimits & { readonly perThread: number } = {
  threads: 2,
  perThread: 16,
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

/**
 * The part of the questions that one client network, or the mailboxes of one workspace, may ask at once: a
 * quarter.
 */
const SHARE = 4;

/**
 * Creates the threads' pool; they start with the first message, or by `keepOne`. `servers` is read for each
 * message.
 */
export function createSenderChecks(
  servers: () => readonly NameServer[],
  limits: Partial<typeof LIMITS> = {},
): SenderChecks {
  const all = { ...LIMITS, ...limits };
  const pool = new WorkerPool<SenderQuestion, SenderResults>('Checking senders', all, () =>
    startThread<SenderQuestion, SenderResults>(ENTRY),
  );
  const total = all.threads * all.perThread;
  const turns = new FairQueue({
    total,
    perKey: Math.ceil(total / SHARE),
    backlog: all.mostWaiting,
    isWorkConserving: true,
  });
  const asking = new Set<{ isAlone: boolean }>();
  const ask = async (message: Omit<SenderQuestion, 'servers'>): Promise<SenderResults> => {
    const one = { isAlone: asking.size === 0 };
    for (const each of asking) each.isAlone = false;
    asking.add(one);
    try {
      return await pool.ask({ ...message, servers: servers() });
    } catch (reason) {
      if (reason instanceof UnavailableError) throw reason;
      // Another message may have used up the time.
      if (isTimeout(reason) && !one.isAlone) throw new UnavailableError('Checking senders took too long.');
      return UNCHECKED;
    } finally {
      asking.delete(one);
    }
  };
  return {
    async check(message, withinMs) {
      const { client, workspaceId } = message;
      const key = client === null ? `mailboxes ${workspaceId}` : clientKey(client);
      const results = await turns.take(key, () =>
        ask({ ...message, ...(withinMs !== undefined && { withinMs }) }),
      );
      if (results === null) throw new UnavailableError('Checking senders: too many wait for a thread.');
      return results;
    },
    keepOne: () => pool.keepOne(),
    close() {
      turns.close();
      pool.close();
    },
  };
}
