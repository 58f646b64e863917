import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { FairPool } from '../../platform/threads/fair-pool.ts';
import { movable } from '../../platform/threads/serve.ts';
import { type PoolLimits, startThread, WorkerPool } from '../../platform/threads/worker-pool.ts';
import type { Findings, LookedAt } from '../check/look.ts';
import type { Previewed, PreviewWarnings } from '../check/preview-warnings.ts';
import type { AggregateReport } from '../inbound/aggregate/aggregate-report.ts';
import type { Feedback } from '../inbound/feedback.ts';
import { NotSubmittable, type RawMail } from '../raw/raw-mail.ts';
import { readRaw } from '../raw/read-raw.ts';
import { type ReceivedMail, readReceived, unreadMail } from '../received/received-mail.ts';
import { readSubmitted, type Submission } from '../submission/submitted.ts';
import type { MailParts } from './mail-parts.ts';
import { isShort } from './mail-size.ts';
import type { CheckQuestion, FileOctets, MailAnswer, MailQuestion } from './mail-thread.ts';
import { TimeShare } from './time-share.ts';

/**
 * Parses mail in worker threads, away from the thread that answers requests: 8 MB of empty parts took a
 * parser 9.6 s, and anybody can send them. Every method rejects with UnavailableError when no thread is free.
 * `owner` is the workspace that a mail is read for: workspaces take turns, and many large mails of one hold
 * no other's.
 */
export interface MailReader {
  /** The feedback in a report; nothing when it cannot be read. */
  report(raw: Buffer, recipients: readonly string[], isFromNobody?: boolean): Promise<readonly Feedback[]>;
  /** The aggregate report in a mail; null when there is none that can be read. `now` is in epoch ms. */
  aggregate(raw: Buffer, now: number): Promise<AggregateReport | null>;
  /**
   * A mail that stays what it is; or a request, where it names a template. Of a large `raw` nothing is left:
   * the thread takes its memory.
   */
  submission(
    raw: Buffer,
    recipients: readonly string[],
    owner: string,
  ): Promise<RawMail | Submission | NotSubmittable>;
  /** A mail that stays what it is, whatever it names. Of a large `raw` nothing is left. */
  raw(raw: Buffer, owner: string): Promise<RawMail | NotSubmittable>;
  /** One file of a mail, numbered as in its index; null where there is none. */
  file(raw: Buffer, number: number, owner: string): Promise<FileOctets | null>;
  /**
   * A received message as readers see it; of one that cannot be parsed the fields of its header, and its
   * first text where that takes no longer.
   */
  received(raw: Buffer, owner: string): Promise<ReceivedMail>;
  /** The parts of a message; null when it cannot be parsed. */
  parts(raw: Buffer, owner: string): Promise<MailParts | null>;
  /** Looks at a message before it is sent; null when that takes too long. */
  look(message: LookedAt, owner: string): Promise<Findings | null>;
  /** The warnings of a preview of rendered parts. */
  warnings(previewed: Previewed, owner: string): Promise<PreviewWarnings>;
  /** Ends the threads; waiting calls reject with UnavailableError. */
  close(): void;
}

/** Limits for reports and received mail, which anyone can send, and for mail of our own users. */
export interface ReaderLimits {
  readonly reports: PoolLimits;
  readonly received: PoolLimits;
  readonly aggregates: PoolLimits;
  readonly own: PoolLimits;
  readonly checks: PoolLimits;
  /**
   * The part of the calling thread's time in which short received mail is read there, and not in a thread of
   * `received`.
   */
  readonly hereShare: number;
}

const USUAL: ReaderLimits = {
  // A report has at most 256 KiB, which takes 300 ms at worst.
  reports: { threads: 1, deadlineMs: 2_000, startMs: 10_000, mostWaiting: 64, idleMs: 60_000 },
  // A received message has at most 32 MiB. One thread: what strangers send leaves a processor to all else.
  received: { threads: 1, deadlineMs: 15_000, startMs: 10_000, mostWaiting: 256, idleMs: 60_000 },
  // A report of 10 MiB that unpacks to 20 takes a second. Its thread is apart, so that it delays no bounce.
  aggregates: { threads: 1, deadlineMs: 5_000, startMs: 10_000, mostWaiting: 64, idleMs: 60_000 },
  // A submission has at most 25 MiB, which takes a second; two threads use two processors.
  own: { threads: 2, deadlineMs: 15_000, startMs: 10_000, mostWaiting: 256, idleMs: 60_000 },
  // A newsletter takes 10 ms, and the worst html of 256 KiB a second. Its thread is apart, so that it delays
  // no mail.
  checks: { threads: 1, deadlineMs: 2_000, startMs: 10_000, mostWaiting: 64, idleMs: 60_000 },
  // A usual short message takes 0.15 ms, the worst of 41,668 hostile shapes 13: strangers get no more of the
  // thread that answers requests.
  hereShare: 0.2,
};

/**
 * From source, every file has its own import.meta.url. Inside the executable it is that of one beside
 * src/main.ts, and the bundle of the thread has the same path relative to it as its source.
 */
const ENTRY = new URL(
  import.meta.url.endsWith('/mail-reader.ts') ? './mail-thread.ts' : './mail/reading/mail-thread.ts',
  import.meta.url,
);

/**
 * Creates a reader whose threads start with the first mail. Reports and received mail have their own threads,
 * so that they delay no submission; a short received message is read where it came while few of them do,
 * which takes the service a seventh less than the way to a thread and back.
 */
export function createMailReader(limits: Partial<ReaderLimits> = {}): MailReader {
  const { reports, aggregates, received, own, checks, hereShare } = { ...USUAL, ...limits };
  const start = () => startThread<MailQuestion | CheckQuestion, MailAnswer>(ENTRY);
  const reportPool = new WorkerPool('Reading reports', reports, start);
  const aggregatePool = new WorkerPool('Reading aggregate reports', aggregates, start);
  const receivedPool = new FairPool('Reading received mail', received, start);
  const ownPool = new FairPool('Reading mail', own, start);
  const checkPool = new FairPool('Checking messages', checks, start);
  const receivedHere = new TimeShare(hereShare);
  /** The answer of a thread; null when the mail makes it fail. */
  const answered = async (ask: () => Promise<MailAnswer>): Promise<MailAnswer | null> => {
    try {
      return await ask();
    } catch (reason) {
      if (reason instanceof UnavailableError) throw reason;
      return null;
    }
  };
  const askFor = (
    owner: string,
    question: MailQuestion,
    moved: readonly ArrayBuffer[] = [],
    threads = ownPool,
  ): Promise<MailAnswer | null> =>
    answered(async () => {
      const answer = await threads.turn(owner, (pool) => pool.ask(question, moved));
      if (answer === null) throw new UnavailableError('Reading mail: too many wait for a thread.');
      return answer;
    });
  /** The answer of the thread of checks; null where that takes too long. */
  const lookFor = async (owner: string, question: CheckQuestion): Promise<MailAnswer | null> => {
    try {
      const answer = await checkPool.turn(owner, (pool) => pool.ask(question));
      if (answer === null) throw new UnavailableError('Checking messages: too many wait for a thread.');
      return answer;
    } catch (reason) {
      if (reason instanceof UnavailableError) throw reason;
      return null;
    }
  };
  return {
    async report(raw, recipients, isFromNobody = false) {
      const question = { as: 'report', raw, recipients, isFromNobody } as const;
      const answer = await answered(() => reportPool.ask(question));
      return answer !== null && 'feedback' in answer ? answer.feedback : [];
    },
    async aggregate(raw, now) {
      const question = { as: 'aggregate', raw, recipients: [], now } as const;
      const answer = await answered(() => aggregatePool.ask(question));
      return answer !== null && 'aggregate' in answer ? answer.aggregate : null;
    },
    async submission(raw, recipients, owner) {
      if (isShort(raw)) return readHere(() => readSubmitted(raw, recipients));
      const answer = await askFor(owner, { as: 'submission', raw, recipients }, movable(raw));
      return answer !== null && 'submission' in answer ? answer.submission : mailOf(answer);
    },
    async raw(raw, owner) {
      if (isShort(raw)) return readHere(() => readRaw(raw));
      return mailOf(await askFor(owner, { as: 'raw', raw, recipients: [] }, movable(raw)));
    },
    async file(raw, number, owner) {
      const answer = await askFor(owner, { as: 'file', raw, recipients: [], file: number });
      return answer !== null && 'file' in answer ? answer.file : null;
    },
    async received(raw, owner) {
      if (isShort(raw) && receivedHere.isLeft)
        return receivedHere.count(() => readReceived(raw).catch(() => unreadMail(raw)));
      const ask = (as: 'received' | 'header') => askFor(owner, { as, raw, recipients: [] }, [], receivedPool);
      const answer = (await ask('received')) ?? (await ask('header'));
      return answer !== null && 'received' in answer ? answer.received : unreadMail(raw);
    },
    async parts(raw, owner) {
      const answer = await askFor(owner, { as: 'parts', raw, recipients: [] });
      return answer !== null && 'parts' in answer ? answer.parts : null;
    },
    async look(message, owner) {
      const answer = await lookFor(owner, { as: 'check', message });
      return answer !== null && 'looked' in answer ? answer.looked : null;
    },
    async warnings(previewed, owner) {
      const answer = await lookFor(owner, { as: 'warnings', previewed });
      return answer !== null && 'warnings' in answer ? answer.warnings : TOO_SLOW;
    },
    close() {
      checkPool.close();
      reportPool.close();
      receivedPool.close();
      aggregatePool.close();
      ownPool.close();
    },
  };
}

/** In place of all warnings. */
const TOO_SLOW: PreviewWarnings = {
  ofContent: [
    {
      code: 'not_checked',
      message: 'The html takes too long to read, for mail programs as well. Make it simpler.',
      line: null,
    },
  ],
  ofTags: [],
};

/** A mail that the parser fails at is as unreadable as in a thread. */
const readHere = <Mail>(read: () => Promise<Mail>): Promise<Mail | NotSubmittable> =>
  read().catch(() => UNREADABLE);

const UNREADABLE = new NotSubmittable('The message takes too long to be read: send it with fewer parts');

function mailOf(answer: MailAnswer | null): RawMail | NotSubmittable {
  if (answer !== null && 'mail' in answer) return answer.mail;
  return answer !== null && 'refused' in answer
    ? new NotSubmittable(answer.refused.reason, answer.refused.status)
    : UNREADABLE;
}
