/**
 * Feedback about a message after it was accepted, in one shape: from bounce mail, complaint mail or a provider's notification.
 */

import { provesAddressDead, readReply, reasonOf } from '../smtp/reply.ts';
import type { Fault, SubType } from '../transport.ts';

/** The identifiers of the message in a report; at least one is set. */
export interface Reference {
  /** The token of the VERP address, which is the most reliable one. */
  readonly token: string | null;
  readonly emailId: string | null;
  /** The provider's own id of the message, as `RecipientOutcome.providerId` gave it. */
  readonly providerId: string | null;
  /** The Message-ID, with its angle brackets. */
  readonly messageId: string | null;
}

/** A receiver or relay has given up. */
export interface Bounced {
  readonly kind: 'bounced';
  /** True for a permanent failure; false when temporary failures lasted too long. */
  readonly permanent: boolean;
  readonly fault: Fault;
  readonly subType: SubType;
  readonly smtpCode: number | null;
  readonly enhancedCode: string | null;
  readonly message: string;
  readonly remoteMta: string | null;
  /**
   * True when the failure proves the address dead, so that it may be suppressed; never for a fault of ours or of the message.
   */
  readonly suppresses: boolean;
}

/** A receiver has delivered the message. */
export interface Delivered {
  readonly kind: 'delivered';
  readonly response: string;
  readonly remoteMta: string | null;
}

/** The server that accepted the message is still trying to deliver it. */
export interface Delayed {
  readonly kind: 'delayed';
  readonly message: string;
  readonly remoteMta: string | null;
}

/** The recipient has reported the message as spam. */
export interface Complained {
  readonly kind: 'complained';
  /** RFC 5965 7.3: `abuse`, `fraud`, `virus`, `other`, … */
  readonly feedbackType: string;
  readonly userAgent: string | null;
}

/** The content of a report about one recipient. */
export type Fact = Bounced | Delivered | Delayed | Complained;

/** One fact about one recipient. */
export type Feedback = Fact & {
  readonly reference: Reference;
  /** The address that the message was sent to; null when the report hides it. */
  readonly recipient: string | null;
};

/** A failure as described in a report. */
export interface Diagnosis {
  /** RFC 3463 status, `5.1.1`; null when the report gives none. */
  readonly status: string | null;
  /** The remote server's reply, from its code on; '' when the report gives none. */
  readonly diagnostic: string;
  readonly remoteMta: string | null;
}

/** Classifies a failure by the rules for SMTP replies; of two status codes the more specific one counts. */
export const bounceOf = ({ status, diagnostic, remoteMta }: Diagnosis): Bounced => {
  const reply = readReply(diagnostic);
  const enhancedCode = specific(reply.enhancedCode) ?? specific(status) ?? reply.enhancedCode ?? status;
  const permanent = (reply.code ?? Number(`${enhancedCode?.[0] ?? 5}00`)) >= 500;
  // The report stands for the reply to RCPT that the server would have given had it known.
  const code = reply.code ?? (permanent ? 550 : 450);
  const reason = reasonOf('RCPT', { code, enhancedCode, text: diagnostic });
  return {
    kind: 'bounced',
    permanent,
    ...reason,
    smtpCode: reply.code,
    enhancedCode,
    message: reply.text || (enhancedCode ?? 'No reason was given'),
    remoteMta,
    suppresses: provesAddressDead({ outcome: permanent ? 'refused' : 'deferred', ...reason }),
  };
};

// X.0.0 only says that something failed.
const specific = (status: string | null): string | null => (status?.endsWith('.0.0') ? null : status);
