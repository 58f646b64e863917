import type { DmarcCounts, DomainReports } from './model.ts';

/** The facts that the advice goes by. */
export interface AdviceFacts {
  readonly totals: DmarcCounts;
  /** Days with at least one message. */
  readonly daysWithMail: number;
  /** Sources of which some messages were aligned, and all sources, by their messages that were not. */
  readonly unalignedOfOwn: number;
  /** The own source with the most messages that were not aligned; null for none. */
  readonly worstOwn: string | null;
  readonly unalignedSources: number;
  /** The policy that DNS has. */
  readonly policy: string | null;
  /** True with reports of two organizations, or of a large receiver. */
  readonly isWellReported: boolean;
}

/** Fewer messages or days say too little about servers that send rarely. */
export const LEAST_MESSAGES = 100;
export const LEAST_DAYS = 14;
/**
 * Anyone who has a domain can write a report of anything: one stranger alone is believed in nothing that
 * loosens a guard.
 */
export const LEAST_REPORTERS = 2;
/**
 * Receivers that are believed alone. Domains in which customers have addresses, such as outlook.com and
 * gmx.net, are none of them: each customer could report in their name.
 */
export const LARGE_RECEIVERS = ['google.com', 'microsoft.com', 'yahoo-inc.com', 'yahooinc.com'] as const;
/** Forwarding breaks some signatures of every sender; Google advises to wait until nearly all mail passes. */
export const MOST_UNALIGNED = 0.02;

type Advice = DomainReports['advice'];

/**
 * One sentence that says what to do. A source that never sends aligned mail is a forger, or a server that its
 * owner has not set up: only the owner knows which, so that it does not decide whether a stricter policy is
 * safe, but is named.
 */
export function adviceOn(facts: AdviceFacts, address: string): Advice {
  const { totals, daysWithMail, unalignedOfOwn, worstOwn, policy } = facts;
  const { messages, aligned } = totals;
  if (messages === 0)
    return advice(
      'noReports',
      false,
      `No report has come in these days: put rua=mailto:${address} into the DMARC record; receivers report once a day, after your mail.`,
    );
  const share = unalignedOfOwn / Math.max(1, aligned + unalignedOfOwn);
  if (share > MOST_UNALIGNED)
    return advice(
      'fixOwnSources',
      false,
      `${percent(share)} of the mail of your servers fails DMARC, most of it from ${worstOwn ?? 'several sources'}: let that server sign with DKIM for this domain before you make the policy stricter.`,
    );
  if (messages < LEAST_MESSAGES || daysWithMail < LEAST_DAYS || aligned === 0)
    return advice(
      'tooFew',
      false,
      `${number(messages)} ${messages === 1 ? 'message' : 'messages'} on ${daysWithMail} ${daysWithMail === 1 ? 'day' : 'days'} are too few to judge: wait for ${LEAST_MESSAGES} messages on ${LEAST_DAYS} days before you make the policy stricter.`,
    );
  if (!facts.isWellReported)
    return advice(
      'tooFew',
      false,
      `One receiver alone has reported: wait for reports of ${LEAST_REPORTERS} receivers, or of a large one such as ${LARGE_RECEIVERS[0]}, before you make the policy stricter.`,
    );
  const strangers = strangersIn(facts);
  if (policy === 'quarantine' || policy === 'reject')
    return advice(
      'isEnforced',
      true,
      `p=${policy} is right: ${percent(1 - share)} of the mail of your servers passes DMARC${strangers === null ? '' : `, and ${strangers} fails it; look for a server of yours among those sources`}.`,
    );
  return advice(
    'quarantineIsSafe',
    true,
    `p=quarantine is safe: ${percent(1 - share)} of the mail of your servers passes DMARC${strangers === null ? '' : `; ${strangers} fails it and would be put aside, so look first for a server of yours among those sources`}.`,
  );
}

/** The mail of sources that never send aligned mail; null for none. */
function strangersIn({ totals, unalignedOfOwn, unalignedSources }: AdviceFacts): string | null {
  const messages = totals.messages - totals.aligned - unalignedOfOwn;
  if (messages === 0) return null;
  const sources = unalignedSources === 1 ? 'one other source' : `${number(unalignedSources)} other sources`;
  return `mail of ${sources} (${number(messages)} ${messages === 1 ? 'message' : 'messages'})`;
}

const advice = (code: Advice['code'], isQuarantineSafe: boolean, sentence: string): Advice => ({
  code,
  sentence,
  isQuarantineSafe,
});

const number = (value: number): string => value.toLocaleString('en');

/** Never 100 % while something is missing. */
const percent = (share: number): string => {
  const tenths = Math.floor(share * 1_000) / 10;
  return share > 0 && tenths === 0 ? 'less than 0.1 %' : `${tenths} %`;
};
