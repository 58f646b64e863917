import { Circuit } from '../../platform/async/circuit.ts';
import { orAborted, withDeadline } from '../../platform/async/deadline.ts';
import { Semaphore } from '../../platform/async/semaphore.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { rarely } from '../../platform/telemetry/rarely.ts';
import { traceOf } from '../raw/leaving.ts';
import { rspamdAt } from './rspamd.ts';
import { type AskSpamAssassin, spamAssassinAt } from './spam-assassin.ts';
import { type AskScanner, NO_JUDGEMENT, type Origin, type SpamJudgement } from './spam-judgement.ts';
import { LARGEST_JUDGED } from './spam-verdict.ts';

/** True of a message that a route with `spam: "refuse"` does not take. */
export const isRefusable = (judgement: SpamJudgement | null): boolean =>
  judgement?.verdict === 'spam' || judgement?.verdict === 'virus';

/** Judges received mail. */
export interface SpamFilter {
  /**
   * The judgement; `unknown` where the filter does not answer in time, or the message is too large for it. It
   * never rejects.
   */
  judge(raw: Buffer, origin: Omit<Origin, 'by'>): Promise<SpamJudgement>;
}

/**
 * A client waits for its reply: a message waits for its turn, and is judged then, for 15 seconds together.
 */
const LIMITS = { waitMs: 5_000, askMs: 10_000 };
/** spamd has five children by default, and rspamd a process for each core; others wait there. */
const AT_ONCE = 8;
/**
 * Reports that members ask for are apart: a workspace that asks for many must not keep the mail of others
 * from its judgement.
 */
const REPORTS = { atOnce: 2, waiting: 16 };

/** The settings that name the filter of received mail. */
interface FilterSettings {
  readonly rspamdUrl: string | null;
  readonly spamassassinUrl: string | null;
}

interface FilterParts {
  /** The name of this server. */
  readonly name: string;
  readonly monotonic: () => number;
  readonly logger: Logger;
}

/** The spam filters of a process. Each is opened once, since its limits count all doors together. */
export interface SpamFilters {
  /** The filter of received mail; null where the settings name none. */
  readonly spamFilter: SpamFilter | null;
  /**
   * The reports on mail before it is sent, and on captured mail; null where no SpamAssassin is configured.
   */
  readonly spamAssassin: AskSpamAssassin | null;
}

/** The filters that the settings name. */
export function openSpamFilters(
  { rspamdUrl, spamassassinUrl }: FilterSettings,
  parts: FilterParts,
): SpamFilters {
  const ask = spamassassinUrl === null ? null : spamAssassinAt(spamassassinUrl);
  const bySpamd = ask && spamFilter('SPAMASSASSIN_URL', throughSpamd(ask), parts);
  return {
    spamFilter: rspamdUrl === null ? bySpamd : spamFilter('RSPAMD_URL', rspamdAt(rspamdUrl), parts),
    spamAssassin: ask && reporter(ask),
  };
}

/** Asks for few reports at once. It rejects where too many wait already, or one waits for long. */
export function reporter(ask: AskSpamAssassin, { waitMs } = LIMITS): AskSpamAssassin {
  const slots = new Semaphore(REPORTS.atOnce, undefined, REPORTS.waiting);
  return async (raw, signal) => {
    if (!(await takeTurn(slots, waitMs, signal))) throw new Error('Too many reports wait for spamd.');
    try {
      return await ask(raw, signal);
    } finally {
      slots.release();
    }
  };
}

/** True when a turn came in time. Work that is given up takes no turn later. */
const takeTurn = (slots: Semaphore, waitMs: number, signal?: AbortSignal): Promise<boolean> =>
  withDeadline({ signal, deadlineMs: waitMs }, async (late) => slots.take(1, late));

/**
 * The filter of a setting. One that fails three times is left alone for a while, and mail comes in without
 * its judgement.
 */
export function spamFilter(
  setting: 'RSPAMD_URL' | 'SPAMASSASSIN_URL',
  ask: AskScanner,
  { name, monotonic, logger }: FilterParts,
  { waitMs, askMs } = LIMITS,
): SpamFilter {
  const circuit = new Circuit(monotonic);
  const slots = new Semaphore(AT_ONCE);
  const warn = rarely(logger, monotonic);
  return {
    async judge(raw, origin) {
      if (raw.length > LARGEST_JUDGED) return NO_JUDGEMENT;
      const admission = circuit.admit();
      if (admission === null) return NO_JUDGEMENT;
      // A wait says nothing about the filter.
      if (!(await takeTurn(slots, waitMs))) {
        circuit.abandoned(admission);
        warn({}, `Too many messages wait for ${setting}: received mail is taken without a verdict.`);
        return NO_JUDGEMENT;
      }
      try {
        const { isSpam, score } = await withDeadline({ deadlineMs: askMs }, (signal) => {
          const asked = ask(raw, { ...origin, by: name }, signal);
          return orAborted(asked, signal, () => new Error('It did not answer in time.'));
        });
        circuit.worked();
        return { verdict: isSpam ? 'spam' : 'ham', score };
      } catch (error) {
        circuit.failed(admission);
        warn({ err: error }, `${setting} gave no verdict: received mail is taken without one.`);
        return NO_JUDGEMENT;
      } finally {
        slots.release();
      }
    },
  };
}

/** Asks spamd, which knows the connection by the fields that servers write. */
export const throughSpamd =
  (ask: AskSpamAssassin): AskScanner =>
  async (raw, origin, signal) => {
    const { score, threshold } = await ask(wholeOf(raw, origin), signal);
    return { isSpam: score >= threshold, score };
  };

/**
 * The message as spamd knows it from servers: with its return path, which is UTF-8 beyond ASCII (RFC 6532
 * 3.2), and its last hop.
 */
function wholeOf(raw: Buffer, { helo, client, from, at, by }: Origin): Buffer {
  const came = { helo: helo || null, client: client ?? '127.0.0.1', by, protocol: 'ESMTP' };
  const trace = traceOf({ id: 'judged', acceptedAt: at, came }).map(({ octets }) => octets);
  const sender = /^[^\s<>\p{Cc}]{0,320}$/u.test(from) ? `Return-Path: <${from}>\r\n` : '';
  return Buffer.concat([Buffer.from(sender), Buffer.from(trace.join(''), 'latin1'), raw]);
}
