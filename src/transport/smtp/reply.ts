/**
 * The meaning of an SMTP reply for a recipient: the only place where codes and words become outcomes, for replies and for bounce
 * reports.
 */
import type { Fault, Outcome, RecipientOutcome, SubType } from '../transport.ts';

/** One reply, with its lines joined by line feeds. */
export interface Reply {
  readonly code: number | null;
  /** RFC 3463 status, `5.1.1`. */
  readonly enhancedCode: string | null;
  readonly text: string;
}

/**
 * The step of the session at which a reply or a disconnection came: before any transaction, at its commands, or after the dot.
 */
export type Step = 'SESSION' | 'MAIL' | 'RCPT' | 'DATA' | 'DOT';

/** An outcome with its reasons. */
export type Verdict = Pick<RecipientOutcome, 'outcome' | 'fault' | 'subType'>;

/**
 * Parses a reply. Text beyond 1,000 characters is dropped, because it is stored with the event and the server chose its length.
 */
export const readReply = (response: string): Reply => {
  const text = response.slice(0, 1_000);
  const code = /^([2-5]\d\d)(?=[ -]|$)/.exec(text)?.[1];
  const enhancedCode = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?!\S)/.exec(text)?.[1];
  return { code: code === undefined ? null : Number(code), enhancedCode: enhancedCode ?? null, text };
};

/**
 * The verdict for `reply` at `step`. A refusal of the session is never the recipient's fault, and another host may accept.
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
 * The reason of a failure: the enhanced code decides; without a specific one, the words and the step do.
 */
export const reasonOf = (step: Step, reply: Reply): { readonly fault: Fault; readonly subType: SubType } => {
  const status = reply.enhancedCode?.slice(2) ?? '';
  const { code } = reply;
  if (code === 421 || reply.enhancedCode?.startsWith('4.7.'))
    return { fault: 'infrastructure', subType: 'RateLimited' };
  const reason = BY_STATUS[status] ?? BY_SUBJECT[status.split('.')[0] ?? ''] ?? byWords(reply.text);
  if (reason) return { fault: reason[0], subType: reason[1] };
  if (step === 'RCPT') return code !== null && code >= 500 ? NO_MAILBOX : GENERAL;
  if (code === 552) return { fault: 'message', subType: 'MessageTooLarge' };
  if (step === 'DOT' && code !== null && code >= 500) return { fault: 'message', subType: 'ContentRejected' };
  return GENERAL;
};

const NO_MAILBOX = { fault: 'recipient', subType: 'NoEmail' } as const;
const GENERAL = { fault: 'infrastructure', subType: 'General' } as const;

type Reason = readonly [Fault, SubType];

// RFC 3463 subject.detail. X.1.7 and X.1.8 are about the sender's address, which is never the recipient's fault.
const BY_STATUS: Readonly<Record<string, Reason>> = {
  '1.0': ['recipient', 'NoEmail'],
  '1.1': ['recipient', 'NoEmail'],
  '1.2': ['recipient', 'DomainNotFound'],
  '1.3': ['recipient', 'NoEmail'],
  '1.4': ['recipient', 'NoEmail'],
  '1.6': ['recipient', 'NoEmail'],
  '1.7': ['infrastructure', 'PolicyRejected'],
  '1.8': ['infrastructure', 'PolicyRejected'],
  '1.10': ['recipient', 'DomainNotFound'],
  '2.1': ['recipient', 'MailboxDisabled'],
  '2.2': ['recipient', 'MailboxFull'],
  '2.3': ['message', 'MessageTooLarge'],
  '3.4': ['message', 'MessageTooLarge'],
  '6.7': ['infrastructure', 'General'],
};

// The subject decides when the detail is not listed above. X.7 is policy (blocklists, reputation, authentication), which is about
// the sender. A temporary one is nearly always greylisting or a rate limit.
const BY_SUBJECT: Readonly<Record<string, Reason>> = {
  '3': ['infrastructure', 'General'],
  '4': ['infrastructure', 'ConnectionFailed'],
  '5': ['infrastructure', 'General'],
  '6': ['message', 'ContentRejected'],
  '7': ['infrastructure', 'PolicyRejected'],
};

// For servers without enhanced codes, or with X.0.0 and X.2.0. Policy comes first: "550 user unknown" and "550 blocked, see …"
// share a code, and taking the second for the first would suppress a person because our address was on a list.
const byWords = (text: string): Reason | undefined => WORDS.find(([pattern]) => pattern.test(text))?.[1];

const WORDS: readonly (readonly [RegExp, Reason])[] = [
  [
    /spamhaus|spamcop|barracuda|\b(dns)?(rbl|bl)\b|block(ed|list)|blacklist|reputation|\bspf\b|\bdkim\b|\bdmarc\b|\brelay/i,
    ['infrastructure', 'PolicyRejected'],
  ],
  [/quota|mailbox.{0,20}full|insufficient (system )?storage/i, ['recipient', 'MailboxFull']],
  [/disabled|inactive|suspended|deactivated/i, ['recipient', 'MailboxDisabled']],
  [
    /\b(no such|unknown|invalid|nonexistent) (user|recipient|mailbox|address|account)/i,
    ['recipient', 'NoEmail'],
  ],
  [
    /\b(user|recipient|mailbox|address|account)\b.{0,30}(unknown|not found|does(n't| not) (exist|have))/i,
    ['recipient', 'NoEmail'],
  ],
  [/rate.?limit|too many|throttl|try again later|gr[ae]y.?list/i, ['infrastructure', 'RateLimited']],
  [/\bspam\b|virus|\bcontent\b/i, ['message', 'ContentRejected']],
];

const sessionSubType = ({ code, enhancedCode }: Reply): SubType => {
  if (code === 530 || code === 534 || code === 535 || code === 538) return 'AuthenticationFailed';
  if (enhancedCode?.startsWith('4.7.') || code === 421) return 'RateLimited';
  if (enhancedCode?.slice(1).startsWith('.7.')) return 'PolicyRejected';
  return 'ConnectionFailed';
};

/**
 * True when a failure proves that the address does not work any more. A full mailbox empties, a blocklist listing ends, and a
 * message may be refused for its content: none of these may suppress the address.
 */
export const provesAddressDead = ({ outcome, fault, subType }: Verdict): boolean =>
  outcome === 'refused' && fault === 'recipient' && subType !== 'MailboxFull';
