import { availableParallelism } from 'node:os';
import { restAfter } from '../../../engine/runtime/bulk-lane.ts';
import type { SigningKey } from '../../../mail/dkim/signing-key.ts';
import { TRANSPORT_TRAITS } from '../../../mail/transport/traits.ts';
import type { OutboundMessage, Transport, WrittenMessage } from '../../../mail/transport/transport.ts';
import { Batcher } from '../../../platform/async/batcher.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { rarely } from '../../../platform/telemetry/rarely.ts';
import {
  isTimeout,
  type PoolLimits,
  type PoolWorker,
  startThread,
  WorkerPool,
} from '../../../platform/threads/worker-pool.ts';
import {
  type Copy,
  outboundMessage,
  type Personalise,
  type Sender,
  trackedOf,
  unwritten,
} from '../send/message.ts';
import type { LiveMessage } from '../send/reader.ts';
import type { PortableKey, WritingBatch, WritingJob, WrittenBatch } from './copy-writer.ts';

/** Writes the copies of campaigns' emails. */
export interface BulkWriter {
  /** One copy, whose octets are made already. `by` is the transport that it leaves by at first. */
  write(message: LiveMessage, copy: Copy, sender: Sender, by: Transport['name']): Promise<OutboundMessage>;
  /** Notes that other mail has come, before which the threads rest. */
  otherCame(): void;
  /** Ends the threads. */
  close(): void;
}

/**
 * Half of the cores: one email takes 1 ms of them, of which the RSA signature 0.6. The other half belongs to
 * what campaigns must not keep waiting. Four at most: the thread that answers requests takes 0.4 ms for the
 * same email, so that three keep up with it.
 */
const THREADS = Math.min(4, Math.max(1, availableParallelism() >> 1));

/**
 * Batches that a thread has: the next one is there when it ends one, while this thread, whose turns take
 * milliseconds, comes to the reply later. A campaign is a fifteenth faster.
 */
const PER_THREAD = 2;
const AT_ONCE = THREADS * PER_THREAD;

/** A thread takes 25 MB. */
const LIMITS: PoolLimits = {
  threads: THREADS,
  perThread: PER_THREAD,
  // A batch takes 50 ms; on a machine that is busy with other things the thread waits behind all of them.
  deadlineMs: 60_000,
  startMs: 30_000,
  mostWaiting: AT_ONCE,
  idleMs: 60_000,
};

/**
 * Copies that are written together. They have their next statements in common then: one by one, five
 * statements an email took half of what a campaign costs.
 */
const BATCH = { batchItems: 32, batchBytes: 1_048_576, waitingItems: 1_024, waitingBytes: 16_777_216 };

/** The most times as long as a batch took that the threads rest while other mail is about. */
const MOST_RESTS = 2;

/**
 * The pause of the threads while other mail is sent, as a multiple of the time of a batch. Their priority
 * alone does not keep them out of its way: it holds within one session or container, of which PostgreSQL has
 * another. A process that wakes waits for some milliseconds until a thread that runs has had its turn, at
 * each of a dozen steps from its POST to the server. Threads that have only a small part of the cores rarely
 * delay other mail.
 */
export const restsOf = (threads: number, cores: number): number =>
  Math.min(MOST_RESTS, (2 * MOST_RESTS * threads) / cores);

const RESTS = restsOf(THREADS, availableParallelism());

/** The pause of the threads after a batch, by its duration and the age of the last other mail. */
export const writersRest = (tookMs: number, othersAgoMs: number, rests = RESTS): number =>
  Math.ceil(rests * restAfter(tookMs, othersAgoMs));

/**
 * Inside the executable every file has the import.meta.url of one beside src/main.ts, and the bundle of the
 * thread lies beneath it as its source does.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/bulk-writer.ts')
    ? './writing-thread.ts'
    : './sending/emails/bulk/writing-thread.ts',
  import.meta.url,
);

interface PendingWrite {
  readonly job: WritingJob;
  settle(written: WrittenMessage | null): void;
  fail(reason: unknown): void;
}

interface WriterParts {
  readonly signer: Signer;
  readonly publicUrl: string;
  readonly personalise: Personalise;
  readonly logger: Logger;
  readonly monotonic: () => number;
}

/**
 * Writes copies in threads that come after all others: with two cores, a password reset waited for the
 * signatures of a campaign. What a thread cannot write is written here, as other mail is, unless it took a
 * thread too long: then writing rejects.
 */
export function bulkWriter(
  { signer, publicUrl, personalise, logger, monotonic }: WriterParts,
  start: () => PoolWorker<WritingBatch, WrittenBatch> = () => startThread(ENTRY),
): BulkWriter {
  const pool = new WorkerPool<WritingBatch, WrittenBatch>('Writing campaigns', LIMITS, start);
  const warn = rarely(logger, monotonic);
  let othersAt = Number.NEGATIVE_INFINITY;
  let tookMs = 0;
  let library: string | null = null;
  const writeAll = async (batch: readonly PendingWrite[]): Promise<void> => {
    try {
      const jobs = batch.map(({ job }) => job);
      const written = await pool.ask({ signerKey: signer.key, publicUrl, jobs });
      if (written.library !== null && written.library !== library)
        logger.info(
          { library: written.library },
          'This library signs campaigns, more quickly than Bun does.',
        );
      library = written.library ?? library;
      settleAll(batch, written);
    } catch (reason) {
      // One copy of the batch takes too long: alone, each of the others is written.
      if (isTimeout(reason) && batch.length > 1) for (const one of batch) await writeAll([one]);
      else for (const { fail } of batch) fail(reason);
    }
  };
  const batcher = new Batcher<PendingWrite>(
    'campaign copies',
    async (batch) => {
      const begun = monotonic();
      await writeAll(batch);
      tookMs = monotonic() - begun;
    },
    BATCH,
    AT_ONCE,
    undefined,
    () => writersRest(tookMs, monotonic() - othersAt),
  );
  const ask = (job: WritingJob, bytes: number): Promise<WrittenMessage | null> =>
    new Promise((settle, fail) => batcher.push({ job, settle, fail }, bytes));

  return {
    async write(message, copy, sender, by) {
      const { content } = message;
      const { dkim, ...bare } = unwritten(message, copy, sender);
      const here = (): OutboundMessage => outboundMessage(message, copy, sender, personalise);
      if (bare.attachments.length > 0) return here();
      // A fallback of a provider that signs by itself may need the signature.
      const isSigned = TRANSPORT_TRAITS[by].isSignedHere || sender.fallbacks.length > 0;
      const job: WritingJob = {
        message: bare,
        parts: { text: content.text, html: content.html },
        personal: trackedOf(message, copy, sender),
        keys: isSigned ? portable(dkim) : [],
      };
      const written = await ask(job, (content.text?.length ?? 0) + (content.html?.length ?? 0)).catch(
        (reason) => {
          // The thread that answers requests would take as long: the email is deferred.
          if (isTimeout(reason)) throw reason;
          warn({ err: reason }, 'The email of a campaign is written by the thread that answers requests.');
          return null;
        },
      );
      if (written === null) return here();
      let parts: OutboundMessage | undefined;
      const own = (): OutboundMessage => {
        parts ??= here();
        return parts;
      };
      // Only who looks at the parts themselves has them made a second time.
      return {
        ...bare,
        dkim,
        written: isSigned ? written : { ...written, signatures: null },
        get text() {
          return own().text;
        },
        get html() {
          return own().html;
        },
        get unsubscribe() {
          return own().unsubscribe;
        },
      };
    },
    otherCame() {
      othersAt = monotonic();
    },
    close: () => pool.close(),
  };
}

function settleAll(batch: readonly PendingWrite[], { octets, lengths }: WrittenBatch): void {
  const all = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  let at = 0;
  for (const [index, { settle }] of batch.entries()) {
    const one = lengths[index];
    if (!one) {
      settle(null);
      continue;
    }
    const begin = at + one.signatures;
    const end = begin + one.composed;
    settle({
      signatures: all.subarray(at, begin),
      composed: all.subarray(begin, end),
      signed: all.subarray(at, end),
    });
    at = end;
  }
}

/** Keys in a form that crosses over to a thread, made once a domain. */
const portables = new WeakMap<readonly SigningKey[], readonly PortableKey[]>();

function portable(keys: readonly SigningKey[]): readonly PortableKey[] {
  const known = portables.get(keys);
  if (known) return known;
  const made = keys.map(({ privateKey, domain, selector, algorithm }) => ({
    domain,
    selector,
    algorithm,
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }));
  portables.set(keys, made);
  return made;
}
