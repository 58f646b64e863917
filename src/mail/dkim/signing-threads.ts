import type { KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Batcher } from '../../platform/async/batcher.ts';
import { within } from '../../platform/async/deadline.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import {
  type PoolLimits,
  type PoolWorker,
  startThread,
  WorkerPool,
} from '../../platform/threads/worker-pool.ts';
import { inThreadPool, type SignWith } from './sign.ts';
import type { SigningKey } from './signing-key.ts';
import type { SignedJobs, SigningJob } from './signing-thread.ts';

/** Half of the cores, four at most: one thread signs more than three thousand emails a second. */
const THREADS = Math.min(4, Math.max(1, availableParallelism() >> 1));

const LIMITS: PoolLimits = {
  threads: THREADS,
  deadlineMs: 5_000,
  startMs: 10_000,
  mostWaiting: THREADS,
  idleMs: 60_000,
};
/** Signatures that are made together wait for each other: eight take 2 ms. */
const BATCH = { batchItems: 8, batchBytes: 1_048_576, waitingItems: 512, waitingBytes: 8_388_608 };

/**
 * Signatures within a second from which on a thread is worth its start, which takes as long as a hundred
 * signatures.
 */
const BUSY = 20;
/** A thread that has not signed for so long may have ended. */
const FRESH_MS = 30_000;
/** The longest wait for a thread. */
const PATIENCE_MS = 1_000;
/**
 * The time between a fault and the next try, and while no thread was quicker yet: most machines have no
 * library that is.
 */
const AGAIN_MS = 60_000;
const FIRST_AGAIN_MS = 600_000;

/**
 * Inside the executable every file has the import.meta.url of one beside src/main.ts, and the bundle of the
 * thread lies beneath it as its source does.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/signing-threads.ts') ? './signing-thread.ts' : './mail/dkim/signing-thread.ts',
  import.meta.url,
);

interface PendingJob {
  readonly job: SigningJob;
  settle(signature: Buffer): void;
  fail(reason: unknown): void;
}

/** Signs single mail. */
export interface SigningThreads {
  readonly sign: SignWith;
  /** Ends the threads. What is asked for afterwards is signed by the runtime's thread pool. */
  close(): void;
}

interface SigningParts {
  readonly logger: Logger;
  readonly monotonic: () => number;
}

/**
 * Signs with RSA in threads where the library of the machine is quicker there (`QuickestSigner`), and by the
 * runtime's thread pool everywhere else: while little is signed, until a thread has shown that it is quicker,
 * and whatever a thread cannot sign or not at once. A thread in which the library is no quicker fails, and
 * ends alone; after a rest others are tried, since one trial may have been unlucky.
 */
export function signingThreads(
  { logger, monotonic }: SigningParts,
  start: () => PoolWorker<readonly SigningJob[], SignedJobs> = () => startThread(ENTRY),
): SigningThreads {
  const pool = new WorkerPool<readonly SigningJob[], SignedJobs>('Signing', LIMITS, start);
  let [isClosed, isTrying, wasQuicker] = [false, false, false];
  let [second, signed] = [Number.NEGATIVE_INFINITY, 0];
  let usedAt = Number.NEGATIVE_INFINITY;
  let notBefore = Number.NEGATIVE_INFINITY;

  const answered = async (jobs: readonly SigningJob[]): Promise<SignedJobs> => {
    const answer = await pool.ask(jobs);
    if (answer.signatures.length !== jobs.length) throw new Error('Signing: signatures are missing.');
    const now = monotonic();
    if (now >= notBefore) usedAt = now;
    wasQuicker = true;
    return answer;
  };
  const rest = (): void => {
    usedAt = Number.NEGATIVE_INFINITY;
    notBefore = monotonic() + (wasQuicker ? AGAIN_MS : FIRST_AGAIN_MS);
  };
  const batcher = new Batcher<PendingJob>(
    'signatures',
    async (batch) => {
      try {
        const { signatures } = await answered(batch.map(({ job }) => job));
        for (const [at, { settle }] of batch.entries()) {
          const { buffer, byteOffset, byteLength } = signatures[at] as Uint8Array;
          settle(Buffer.from(buffer, byteOffset, byteLength));
        }
      } catch (reason) {
        rest();
        for (const { fail } of batch) fail(reason);
      }
    },
    BATCH,
    THREADS,
  );
  const late = (): Error => {
    rest();
    return new Error('Signing: the thread is late.');
  };
  const byThread = (key: SigningKey, data: Buffer): Promise<Buffer> =>
    within(
      PATIENCE_MS,
      new Promise((settle, fail) =>
        batcher.push({ job: { pem: pemOf(key), data }, settle, fail }, data.length),
      ),
      late,
    );

  async function tryOut(job: SigningJob): Promise<void> {
    isTrying = true;
    try {
      const { library } = await answered([job]);
      logger.info({ library }, 'This library signs email, more quickly than Bun does.');
    } catch {
      rest();
    } finally {
      isTrying = false;
    }
  }

  return {
    sign: (key, data) => {
      const now = monotonic();
      if (now - second > 1_000) [second, signed] = [now, 0];
      signed++;
      if (isClosed) return inThreadPool(key, data);
      if (now - usedAt < FRESH_MS) return byThread(key, data).catch(() => inThreadPool(key, data));
      if (signed >= BUSY && !isTrying && now >= notBefore) void tryOut({ pem: pemOf(key), data });
      return inThreadPool(key, data);
    },
    close() {
      isClosed = true;
      pool.close();
    },
  };
}

/** Keys in a form that crosses over to a thread. */
const pems = new WeakMap<KeyObject, string>();

function pemOf({ privateKey }: SigningKey): string {
  const known = pems.get(privateKey);
  if (known !== undefined) return known;
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  pems.set(privateKey, pem);
  return pem;
}
