/**
 * The meaning of an SMTP reply for a recipient: the only place where codes and words become outcomes, for
 * replies and for bounce reports.
 */
import type { Fault, Outcome, RecipientOutcome, SubType } from '../transport.ts';
import { FAILURES } from './failures.ts';
import { kindOfSentence, kindOfWords, saysUserUnknown } from './reply-words.ts';

/** One reply, with its lines joined by line feeds. */
export interface Reply {
  readonly code: number | null;
  /** RFC 3463 status, `5.1.1`. */
  readonly enhancedCode: string | null;
  readonly text: string;
}

/**
 * The step of the session at which a reply or a disconnection came: before any transaction, at its commands,
 * or after the dot.
 */
export type Step = 'SESSION' | 'MAIL' | 'RCPT' | 'DATA' | 'DOT';

/** An outcome with its reasons. */
export type Verdict = Pick<RecipientOutcome, 'outcome' | 'fault' | 'subType'>;

/**
 * Parses a reply. Text beyond 1,000 characters is dropped, because it is stored with the event and the server
 * chose its length.
 */
export const readReply = (response: string): Reply => {
  const text = response.slice(0, 1_000);
  const code = /^([2-5]\d\d)(?=[ -]|$)/.exec(text)?.[1];
  // qmail and its kin write the status at the end: "550 sorry, no mailbox here by that name (#5.1.1)".
  const enhancedCode =
    /^\d{3}[ -](?:#|')?([245]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(text)?.[1] ??
    /#([245]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(text)?.[1];
  return { code: code === undefined ? null : Number(code), enhancedCode: enhancedCode ?? null, text };
};

/**
 * The verdict for `reply` at `step`. A refusal of the session is never the recipient's fault, and another
 * host may accept.
 */
export const verdictOf = (step: Step, reply: Reply): Verdict => {
  const { code } = reply;
  if (code !== null && code >= 200 && code < 300) return { outcome: 'accepted', fault: null, subType: null };
  if (step === 'SESSION')
    return { outcome: 'deferred', fault: 'infrastructure', subType: sessionSubType(reply) };
  const outcome: Outcome = code !== null && code >= 500 ? 'refused' : 'deferred';
  return { outcome, ...reasonOf(step, reply) };
};

/**
 * The kind of a failure, and whose fault it is: the enhanced code decides; where it says little, the words
 * and the step do.
 */
export const reasonOf = (step: Step, reply: Reply): { readonly fault: Fault; readonly subType: SubType } => {
  const kind = kindOf(step, reply);
  const subType = step === 'MAIL' ? ofSender(kind) : kind;
  return { fault: FAILURES[subType].fault, subType };
};

/**
 * The kind of a refusal of the sender, which comes before the server has learned the recipient: a mailbox or
 * domain that does not exist is ours. GMX begins each such refusal with "Requested action not taken: mailbox
 * unavailable".
 */
const ofSender = (kind: SubType): SubType => {
  if (FAILURES[kind].provesDead) return 'PolicyRejected';
  return FAILURES[kind].fault === 'recipient' ? 'General' : kind;
};

const kindOf = (step: Step, { code, enhancedCode, text }: Reply): SubType => {
  if (code === 421 || enhancedCode?.startsWith('4.7.')) return 'RateLimited';
  const sentence = kindOfSentence(text);
  if (sentence !== undefined) return sentence;
  const status = enhancedCode?.slice(2) ?? '';
  const words = atStep(step, kindOfWords(text));
  const told = BY_STATUS[status];
  // Servers give 5.1.1 and 5.2.1 for other reasons, too, and say so in words.
  if (told !== undefined) return words !== undefined && FAILURES[told].provesDead ? words : told;
  const subject = status.split('.')[0] ?? '';
  if (subject === '6' || subject === '7') return BY_SUBJECT[subject];
  if ((step === 'DATA' || step === 'DOT') && mayHideFilter(code, enhancedCode, text)) return 'General';
  if (words !== undefined && words !== 'General') return words;
  return isSubject(subject) ? BY_SUBJECT[subject] : byStep(step, code);
};

/**
 * After RCPT the server has taken the domain: one that it does not find then is in the header or the text.
 */
const atStep = (step: Step, words: SubType | undefined): SubType | undefined =>
  (step === 'DATA' || step === 'DOT') && words === 'DomainNotFound' ? undefined : words;

/**
 * True for a reply to DATA or to the final dot that may be about the mail: NTT Docomo and KDDI answer "550
 * Unknown user" where a person filters the sender. They refuse unknown users at RCPT.
 */
export const mayHideFilter = (code: number | null, enhancedCode: string | null, text: string): boolean =>
  code === 550 && enhancedCode === null && saysUserUnknown(text);

// RFC 5321 4.2.3: 550, 551, 553 and 554 stand for policy as much as for an unknown mailbox, so that a bare
// one proves nothing.
const byStep = (step: Step, code: number | null): SubType => {
  if (code === 556) return 'DomainNotFound';
  if (code === 552) return step === 'RCPT' ? 'MailboxFull' : 'MessageTooLarge';
  return step === 'DOT' && code !== null && code >= 500 ? 'ContentRejected' : 'General';
};

// RFC 3463 subject.detail. X.1.0, X.1.4 and X.2.0 leave open what is wrong. X.1.7 and X.1.8 are about the
// sender's address, which is never the recipient's fault.
const BY_STATUS: Readonly<Record<string, SubType>> = {
  '1.1': 'NoEmail',
  '1.2': 'DomainNotFound',
  '1.3': 'NoEmail',
  '1.6': 'NoEmail',
  '1.7': 'PolicyRejected',
  '1.8': 'PolicyRejected',
  '1.10': 'DomainNotFound',
  '2.1': 'MailboxDisabled',
  '2.2': 'MailboxFull',
  '2.3': 'MessageTooLarge',
  '3.4': 'MessageTooLarge',
  '6.7': 'General',
};

// The subject decides when the detail is not listed above and the words say nothing. X.7 is policy
// (blocklists, reputation, authentication), which is about the sender. A temporary one is nearly always
// greylisting or a rate limit.
const BY_SUBJECT = {
  '3': 'General',
  '4': 'ConnectionFailed',
  '5': 'General',
  '6': 'ContentRejected',
  '7': 'PolicyRejected',
} as const satisfies Record<string, SubType>;

const isSubject = (subject: string): subject is keyof typeof BY_SUBJECT => subject in BY_SUBJECT;

const sessionSubType = ({ code, enhancedCode }: Reply): SubType => {
  if (code === 530 || code === 534 || code === 535 || code === 538) return 'AuthenticationFailed';
  if (enhancedCode?.startsWith('4.7.') || code === 421) return 'RateLimited';
  if (enhancedCode?.slice(1).startsWith('.7.')) return 'PolicyRejected';
  return 'ConnectionFailed';
};

/** True when a failure proves that the address does not work any more; only then is it suppressed. */
export const provesAddressDead = ({ outcome, subType }: Pick<Verdict, 'outcome' | 'subType'>): boolean =>
  outcome === 'refused' && subType !== null && FAILURES[subType].provesDead;
