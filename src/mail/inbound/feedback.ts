/**
 * Feedback about a message after it was accepted, in one shape: from bounce mail, complaint mail or a
 * provider's notification.
 */
import type { Fault, SubType } from '../transport/transport.ts';

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
export interface BounceReport {
  readonly kind: 'bounced';
  /** True for a permanent failure; false when temporary failures lasted too long. */
  readonly permanent: boolean;
  /** True when the reporting server tries no more, so that the message will not arrive. */
  readonly isFinal: boolean;
  readonly fault: Fault;
  readonly subType: SubType;
  readonly smtpCode: number | null;
  readonly enhancedCode: string | null;
  readonly message: string;
  readonly remoteMta: string | null;
  /**
   * True when the failure proves the address dead that it is about; never for a fault of ours or of the
   * message.
   */
  readonly suppresses: boolean;
  /**
   * The address that the delivery failed for: a target of the recipient's, where that is an alias. Null when
   * it is not named.
   */
  readonly failing: string | null;
}

/** A receiver has delivered the message. */
export interface DeliveryReport {
  readonly kind: 'delivered';
  readonly response: string;
  readonly remoteMta: string | null;
}

/** The server that accepted the message is still trying to deliver it. */
export interface DelayReport {
  readonly kind: 'delayed';
  readonly message: string;
  readonly remoteMta: string | null;
}

/**
 * The server has passed the message on to one that sends no reports, or to the targets of an alias (RFC 3464
 * 2.3.3).
 */
export interface ForwardReport {
  readonly kind: 'passedOn';
}

/** A mail that came back to the return path, and is no report that can be read. */
export interface UnreadableMail {
  readonly kind: 'unread';
  /** Its subject; '' when it has none. */
  readonly subject: string;
}

/** The recipient has reported the message as spam. */
export interface ComplaintReport {
  readonly kind: 'complained';
  /** RFC 5965 7.3: `abuse`, `fraud`, `virus`, `other`, … */
  readonly feedbackType: string;
  readonly userAgent: string | null;
}

/** The recipient wants no more of such mail, and calls none of it spam. */
export interface OptOutReport {
  readonly kind: 'optedOut';
}

/** The content of a report about one recipient. */
export type Fact =
  | BounceReport
  | DeliveryReport
  | DelayReport
  | ForwardReport
  | ComplaintReport
  | OptOutReport
  | UnreadableMail;

/** One fact about one recipient. */
export type Feedback = Fact & {
  readonly reference: Reference;
  /** The address that the message was sent to; null when the report hides it. */
  readonly recipient: string | null;
};
