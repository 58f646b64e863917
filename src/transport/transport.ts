/**
 * The one interface behind which mail leaves. A transport takes a finished order, tries it once and says, recipient by
 * recipient, what became of it. It never retries, writes no table and knows no machine: when to try again is the
 * email's own decision.
 */
import type { SigningKey } from './dkim/signing-key.ts';

/**
 * A mailbox that passed the strict address grammar. Name and address stay apart: nothing here parses one from a string.
 */
export interface Mailbox {
  readonly name: string | null;
  readonly address: string;
}

/** A file that travels with a message; one with a `contentId` is shown inside the html as `cid:<contentId>`. */
export interface MessageAttachment {
  readonly filename: string;
  readonly content: Uint8Array;
  /** MIME type; null lets the file name decide. */
  readonly contentType: string | null;
  /** Without angle brackets; null for an ordinary attachment. */
  readonly contentId: string | null;
}

/** A header field of the sender's own. */
export interface MessageHeader {
  readonly name: string;
  readonly value: string;
}

/**
 * Where a recipient leaves a list: `url` answers the one-click POST of RFC 8058, `mailto` is an address for old
 * clients.
 */
export interface Unsubscribe {
  readonly url: string;
  readonly mailto: string | null;
}

/**
 * One attempt at one email. Everything in it was validated before; the transport only guards against line breaks in
 * headers.
 */
export interface OutboundMessage {
  readonly emailId: string;
  readonly attempt: number;
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  /** Never written into the message. */
  readonly bcc: readonly Mailbox[];
  readonly replyTo: readonly Mailbox[];
  /** The addresses this attempt is for, out of to, cc and bcc: a later attempt names only those still open. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly headers: readonly MessageHeader[];
  readonly attachments: readonly MessageAttachment[];
  /** `<emailId@domain>` with its brackets, the same in every attempt, so that a receiver can tell a repetition. */
  readonly messageId: string;
  /** Epoch ms of acceptance, the same in every attempt. */
  readonly date: number;
  /** The envelope sender: a VERP address, by which a bounce finds its way back. */
  readonly returnPath: string;
  /** Every key signs; an empty list sends unsigned. */
  readonly dkim: readonly SigningKey[];
  readonly unsubscribe: Unsubscribe | null;
}

/**
 * `accepted`: a server took responsibility. `deferred`: not now, and surely not delivered. `refused`: never.
 * `unknown`: the whole message including its final dot may have arrived, but no reply did (RFC 5321 4.5.3.2.6).
 */
export type Outcome = 'accepted' | 'deferred' | 'refused' | 'unknown';

/**
 * Whose fault a failure is. Only a `recipient` fault says anything about the person's address; nothing else may
 * suppress it.
 */
export type Fault = 'recipient' | 'message' | 'infrastructure';

/** What kind of failure: the `subType` of a bounced event. */
export type SubType =
  | 'General'
  | 'NoEmail'
  | 'MailboxFull'
  | 'MailboxDisabled'
  | 'MessageTooLarge'
  | 'ContentRejected'
  | 'PolicyRejected'
  | 'RateLimited'
  | 'DomainNotFound'
  | 'ConnectionFailed'
  | 'TlsFailed'
  | 'AuthenticationFailed';

/** What became of the message for one recipient in this attempt. */
export interface RecipientOutcome {
  /** As in `OutboundMessage.recipients`. */
  readonly recipient: string;
  readonly outcome: Outcome;
  /** null when no server said anything. */
  readonly smtpCode: number | null;
  /** RFC 3463, `5.1.1`; null when the reply had none. */
  readonly enhancedCode: string | null;
  /** What the server said, at most 1,000 characters, or a sentence of our own. */
  readonly response: string;
  /** Host name of the server that answered, null when none did. */
  readonly remoteMta: string | null;
  /** null for `accepted`. */
  readonly fault: Fault | null;
  /** null for `accepted`. */
  readonly subType: SubType | null;
  /** The identifier that the other side gave the message (SES), null where there is none. */
  readonly providerId: string | null;
}

/** One line of `posthorn doctor`: what was checked, how it stands, and what to do when it is not well. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly advice: string | null;
}

/** The limits of one call to `send`. */
export interface SendLimits {
  /** Abandons the attempt: before the final dot the recipients are `deferred`, after it `unknown`. */
  readonly signal: AbortSignal;
  /** Milliseconds from the call after which it answers in any case, by the same rule. */
  readonly deadlineMs: number;
  /**
   * Asked before anything is opened or said, once a session may be: whether the attempt is this process's to make. Where it is
   * not, `send` rejects with `NotBegun`. Absent where nobody keeps account of attempts.
   */
  readonly begin?: () => Promise<boolean>;
}

/** Every transport there is, by name. */
export const TRANSPORTS = ['capture', 'smtp', 'direct', 'ses'] as const;

/** The ways that are enabled; the first one is the default. */
export type EnabledTransports = readonly [Transport['name'], ...Transport['name'][]];

/** A way out for mail. `send` settles with one outcome per recipient; it rejects with `NotBegun`, or for a bug of ours. */
export interface Transport {
  readonly name: (typeof TRANSPORTS)[number];
  /** The recipient's own server accepts, so accepted means delivered; a relay or provider only promises to try. */
  readonly confirmsDelivery: boolean;
  send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]>;
  /** Checks that the way out is open, without sending anything. */
  verify(): Promise<readonly Finding[]>;
  /** Ends idle connections; attempts under way finish first. */
  close(): Promise<void>;
}
