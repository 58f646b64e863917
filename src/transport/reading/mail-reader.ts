import { Unavailable } from '../../errors/unavailable.ts';
import { type PoolLimits, startThread, WorkerPool } from '../../threads/worker-pool.ts';
import type { Feedback } from '../inbound/feedback.ts';
import { NotSubmittable, type Submission } from '../submission/submitted.ts';
import type { MailParts } from './mail-parts.ts';
import { isWithin } from './mail-size.ts';
import type { MailAnswer, MailQuestion } from './mail-thread.ts';

/**
 * Takes mails apart, away from the thread that answers requests: 8 MB of empty parts took a parser 9.6 s, and anybody can
 * send them. Everything rejects with Unavailable where no thread is free for it.
 */
export interface MailReader {
  /** What a mail that came back says; nothing when it cannot be read. */
  report(raw: Buffer, recipients: readonly string[]): Promise<readonly Feedback[]>;
  submission(raw: Buffer, recipients: readonly string[]): Promise<Submission | NotSubmittable>;
  /** null when it cannot be taken apart. */
  parts(raw: Buffer): Promise<MailParts | null>;
  /** Ends the threads; who still waits gets Unavailable. */
  close(): void;
}

/** How much of it there may be, for what strangers send and for what keys and their owners do. */
export interface ReaderLimits {
  readonly reports: PoolLimits;
  readonly own: PoolLimits;
}

const USUAL: ReaderLimits = {
  // At most 256 KiB each, which is 300 ms at the worst.
  reports: { threads: 1, deadlineMs: 2_000, startMs: 10_000, mostWaiting: 64, idleMs: 60_000 },
  // At most 25 MiB each: a second; the second thread is for those behind such a one.
  own: { threads: 2, deadlineMs: 15_000, startMs: 10_000, mostWaiting: 256, idleMs: 60_000 },
};

/**
 * From source, every file has its own import.meta.url. Inside the executable there is one, that of src/main.ts, and the
 * bundle of the thread lies beneath it as its source does.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/mail-reader.ts') ? './mail-thread.ts' : './transport/reading/mail-thread.ts',
  import.meta.url,
);

/** A reader that starts its threads when there is mail: reports have one of their own, so that they keep nobody waiting. */
export function createMailReader(limits: Partial<ReaderLimits> = {}): MailReader {
  const { reports, own } = { ...USUAL, ...limits };
  const start = () => startThread<MailQuestion, MailAnswer>(ENTRY);
  const strangers = new WorkerPool('Reading reports', reports, start);
  const ours = new WorkerPool('Reading mail', own, start);
  /** The answer; null when the mail is too much for a parser, or breaks one. */
  const ask = async (pool: typeof ours, question: MailQuestion): Promise<MailAnswer | null> => {
    if (!isWithin(question.raw)) return null;
    try {
      return await pool.ask(question);
    } catch (reason) {
      if (reason instanceof Unavailable) throw reason;
      return null;
    }
  };
  return {
    async report(raw, recipients) {
      const answer = await ask(strangers, { as: 'report', raw, recipients });
      return answer !== null && 'feedback' in answer ? answer.feedback : [];
    },
    async submission(raw, recipients) {
      const answer = await ask(ours, { as: 'submission', raw, recipients });
      if (answer !== null && 'submission' in answer) return answer.submission;
      const told = answer !== null && 'reason' in answer ? answer.reason : null;
      return new NotSubmittable(told ?? 'The message has too many lines or parts to be read');
    },
    async parts(raw) {
      const answer = await ask(ours, { as: 'parts', raw, recipients: [] });
      return answer !== null && 'parts' in answer ? answer.parts : null;
    },
    close() {
      strangers.close();
      ours.close();
    },
  };
}
