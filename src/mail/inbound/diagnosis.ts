import { domainOf } from '../compose/envelope.ts';
import { FAILURES } from '../transport/smtp/failures.ts';
import { mayHideFilter, provesAddressDead, readReply, reasonOf } from '../transport/smtp/reply.ts';
import { kindOfWords, saysTimeIsOver } from '../transport/smtp/reply-words.ts';
import type { BounceReport } from './feedback.ts';
import type { StepOfReply } from './report-text.ts';

/** A failure as described in a report. */
export interface Diagnosis {
  /** RFC 3463 status, `5.1.1`; null when the report gives none. */
  readonly status: string | null;
  /**
   * The remote server's reply from its code on, or the words of the reporting one; '' when the report gives
   * neither.
   */
  readonly diagnostic: string;
  readonly remoteMta: string | null;
  /** The address that the delivery failed for. */
  readonly failing?: string | null;
  /**
   * The step that the report names beside the reply; otherwise the report takes the place of the reply to
   * RCPT.
   */
  readonly step?: StepOfReply;
}

/** Classifies a failure by the rules for SMTP replies; of two status codes the more specific one counts. */
export const bounceOf = ({
  status,
  diagnostic,
  remoteMta,
  failing = null,
  step = 'RCPT',
}: Diagnosis): BounceReport => {
  const reply = readReply(diagnostic);
  const own = reply.enhancedCode ?? statusIn(diagnostic);
  const enhancedCode = specific(own) ?? specific(status) ?? own ?? status;
  const permanent = isPermanent(reply.code, enhancedCode, diagnostic);
  const code = reply.code ?? (permanent ? 550 : 450);
  // Sendmail writes 5.2.0 for a reply to DATA without a status, and 5.1.1 for one to RCPT.
  const isFilter = (step === 'DOT' || status === '5.2.0') && mayHideFilter(reply.code, own, diagnostic);
  const { fault, subType } = reasonOf(step, { code, enhancedCode, text: diagnostic });
  const isGuess = own === null && reply.code !== null && FAILURES[subType].provesDead;
  const kind =
    own === null && reply.code === null && UNROUTABLE.test(diagnostic)
      ? NO_DOMAIN
      : isFilter || (isGuess && !provedByReply(code, diagnostic))
        ? UNKNOWN
        : isElsewhere(subType, diagnostic, failing)
          ? ELSEWHERE
          : { fault, subType };
  return {
    kind: 'bounced',
    permanent,
    isFinal: true,
    ...kind,
    smtpCode: reply.code,
    enhancedCode,
    message: reply.text || (enhancedCode ?? 'No reason was given'),
    remoteMta,
    suppresses: provesAddressDead({ outcome: permanent ? 'refused' : 'deferred', ...kind }),
    failing,
  };
};

// The reply decides, then a status that says something, then the words: X.0.0 only says that it failed (RFC
// 3463 3.1).
const isPermanent = (code: number | null, status: string | null, words: string): boolean => {
  if (code !== null) return code >= 500;
  if (saysTimeIsOver(words)) return false;
  // Gmail reports a domain that does not exist as 4.0.0.
  if (specific(status) === null) {
    const kind = kindOfWords(words);
    if (kind !== undefined && FAILURES[kind].provesDead) return true;
    // A host that cannot be reached is tried until time is over, although Courier does not say so. `General`
    // are temporary conditions.
    if (kind === 'ConnectionFailed' || kind === 'General') return false;
  }
  return !status?.startsWith('4.');
};

const specific = (status: string | null): string | null => (status?.endsWith('.0.0') ? null : status);

/** The status in words without a reply, such as "5.2.2 <bob@receiver.example>... Mailbox Full". */
const statusIn = (words: string): string | null =>
  /(?<![\d.])([45]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(words.slice(0, 1_000))?.[1] ?? null;

// Sendmail writes 5.1.1 for each 550 that comes without a status, whatever its words are.
const provedByReply = (code: number, text: string): boolean =>
  FAILURES[reasonOf('RCPT', { code, enhancedCode: null, text }).subType].provesDead;

const UNKNOWN = { fault: 'infrastructure', subType: 'General' } as const;

// The words of Exim for a domain that does not exist, where no other server has answered.
const UNROUTABLE = /^unroute?able address/i;
const NO_DOMAIN = { fault: 'recipient', subType: 'DomainNotFound' } as const;

const ELSEWHERE = { fault: 'infrastructure', subType: 'ConnectionFailed' } as const;

const NAMED_HOST =
  /(?:\bname=|\bname server: |\bhost named |\bhost |\blookup of )((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24})\b/i;

// The host that was not found may be a mail server of a domain that exists.
const isElsewhere = (subType: string, words: string, failing: string | null): boolean => {
  if (subType !== 'DomainNotFound' || failing === null) return false;
  const host = NAMED_HOST.exec(words.slice(0, 1_000))?.[1]?.toLowerCase();
  return host !== undefined && domainOf(failing) !== host;
};
