/**
 * What comes back about a message that was accepted: by bounce mail, complaint mail or a provider's notification, in
 * one shape.
 */

import { provesAddressDead, readReply, reasonOf } from '../smtp/reply.ts';
import type { Fault, SubType } from '../transport.ts';

/** By what the message can be found again; at least one is set. */
export interface Reference {
  /** Out of the VERP address, as the caller made it: the strongest. */
  readonly token: string | null;
  readonly emailId: string | null;
  /** The provider's own id of the message, as `RecipientOutcome.providerId` gave it. */
  readonly providerId: string | null;
  /** `<…>`, as the message had it. */
  readonly messageId: string | null;
}

/** A receiver or relay gave up. */
export interface Bounced {
  readonly kind: 'bounced';
  /** For good; false when time ran out over a temporary failure. */
  readonly permanent: boolean;
  readonly fault: Fault;
  readonly subType: SubType;
  readonly smtpCode: number | null;
  readonly enhancedCode: string | null;
  readonly message: string;
  readonly remoteMta: string | null;
  /**
   * The failure proves that mail to this address is useless: it may be suppressed. Never for a fault of ours or the
   * message's.
   */
  readonly suppresses: boolean;
}

/** A receiver has it. */
export interface Delivered {
  readonly kind: 'delivered';
  readonly response: string;
  readonly remoteMta: string | null;
}

/** Not yet; whoever accepted it goes on trying. */
export interface Delayed {
  readonly kind: 'delayed';
  readonly message: string;
  readonly remoteMta: string | null;
}

/** The recipient calls it spam. */
export interface Complained {
  readonly kind: 'complained';
  /** RFC 5965 7.3: `abuse`, `fraud`, `virus`, `other`, … */
  readonly feedbackType: string;
  readonly userAgent: string | null;
}

/** What was learned. */
export type Fact = Bounced | Delivered | Delayed | Complained;

/** One thing learned about one recipient. */
export type Feedback = Fact & {
  readonly reference: Reference;
  /** The address as the message was sent to; null when the report hides it. */
  readonly recipient: string | null;
};

/** What a report says of a failure. */
export interface Diagnosis {
  /** RFC 3463 status, `5.1.1`; null when the report gives none. */
  readonly status: string | null;
  /** The remote server's words, from their code on; '' when the report gives none. */
  readonly diagnostic: string;
  readonly remoteMta: string | null;
}

/** Judges a failure by the rules that an SMTP reply is judged by; of two status codes the more telling one counts. */
export const bounceOf = ({ status, diagnostic, remoteMta }: Diagnosis): Bounced => {
  const spoken = readReply(diagnostic);
  const enhancedCode = telling(spoken.enhancedCode) ?? telling(status) ?? spoken.enhancedCode ?? status;
  const permanent = (spoken.code ?? Number(`${enhancedCode?.[0] ?? 5}00`)) >= 500;
  // A receiver's server reports what it would have said at RCPT, had it known then.
  const code = spoken.code ?? (permanent ? 550 : 450);
  const reason = reasonOf('RCPT', { code, enhancedCode, text: diagnostic });
  return {
    kind: 'bounced',
    permanent,
    ...reason,
    smtpCode: spoken.code,
    enhancedCode,
    message: spoken.text || (enhancedCode ?? 'No reason was given'),
    remoteMta,
    suppresses: provesAddressDead({ outcome: permanent ? 'refused' : 'deferred', ...reason }),
  };
};

// X.0.0 says that something failed, and no more.
const telling = (status: string | null): string | null => (status?.endsWith('.0.0') ? null : status);
