import type { TransportName } from '../../platform/config/transport-names.ts';
/**
 * The interface of all transports. A transport attempts one email once and answers with an outcome for each
 * recipient. It never retries, writes no table and knows no machine: the email's machine decides about
 * another attempt.
 */
import type { MessageOctets } from '../dkim/canonical.ts';
import type { SigningKey } from '../dkim/signing-key.ts';
import type { AskedReports } from '../message/asked-reports.ts';
import type { Calendar } from '../message/calendar.ts';
import type { Part } from './part.ts';

/**
 * A mailbox that passed the strict address grammar. Name and address stay apart, so that nothing has to be
 * parsed again.
 */
export interface Mailbox {
  readonly name: string | null;
  readonly address: string;
}

/** An attached file; one with a `contentId` is shown inside the html as `cid:<contentId>`. */
export interface MessageAttachment {
  readonly filename: string;
  readonly content: Uint8Array;
  /** MIME type; null lets the file name decide. */
  readonly contentType: string | null;
  /** Without angle brackets; null for an ordinary attachment. */
  readonly contentId: string | null;
}

/** A header field that the sender has set. */
export interface MessageHeader {
  readonly name: string;
  readonly value: string;
}

/**
 * The ways to unsubscribe: `url` answers the one-click POST of RFC 8058. `mailto` is an address for mail
 * programs that only write, such as Apple Mail; null where this service receives no mail.
 */
export interface Unsubscribe {
  readonly url: string;
  readonly mailto: string | null;
}

/**
 * One attempt at one email. Everything in it was validated before; the transport only guards against line
 * breaks in headers.
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
  /**
   * The addresses of this attempt, from to, cc and bcc: a later attempt names only those without a final
   * outcome.
   */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly headers: readonly MessageHeader[];
  readonly attachments: readonly MessageAttachment[];
  readonly calendar?: Calendar;
  /**
   * `<emailId@domain>` with its brackets, the same in every attempt, so that a receiver can recognise a
   * second copy.
   */
  readonly messageId: string;
  /** Epoch ms of acceptance, the same in every attempt. */
  readonly date: number;
  /** The envelope sender: a VERP address, which identifies the email in a bounce; '' for the null sender. */
  readonly returnPath: string;
  /**
   * The reports that its sender asks for, which the next server is asked for where it knows how (RFC 3461).
   */
  readonly reports?: AskedReports | undefined;
  /** The signing keys, each of which signs; an empty list sends unsigned. */
  readonly dkim: readonly SigningKey[];
  readonly unsubscribe: Unsubscribe | null;
  /** Of a campaign: other mail goes first. */
  readonly isBulk?: boolean;
  /** The octets, where they were made before. */
  readonly written?: WrittenMessage;
}

/** A composed message, and the signatures to put before it; null where it was not signed. */
export interface WrittenMessage extends MessageOctets {
  readonly signatures: Buffer | null;
  /** Both, where they lie behind each other. */
  readonly signed?: Buffer;
  /** True of a message that is forwarded: another form of it breaks the signature of its author. */
  readonly isForwarded?: true;
}

/**
 * `accepted`: a server took responsibility. `deferred`: not now, and surely not delivered. `refused`: never.
 * `unknown`: the whole message including its final dot may have arrived, but no reply did (RFC 5321
 * 4.5.3.2.6).
 */
export type Outcome = 'accepted' | 'deferred' | 'refused' | 'unknown';

/**
 * The cause of a failure. Only `recipient` says anything about the recipient's address; nothing else may
 * suppress it.
 */
export type Fault = 'recipient' | 'message' | 'infrastructure';

/** The kind of failure: the `subType` of a bounced event. */
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

/** The outcome of an attempt for one recipient. */
export interface RecipientOutcome {
  /** As in `OutboundMessage.recipients`. */
  readonly recipient: string;
  readonly outcome: Outcome;
  /** The code of the reply; null when there was none. */
  readonly smtpCode: number | null;
  /** RFC 3463, `5.1.1`; null when the reply had none. */
  readonly enhancedCode: string | null;
  /** The server's reply, at most 1,000 characters, or a sentence of our own. */
  readonly response: string;
  /** Host name of the server that answered; null when none did. */
  readonly remoteMta: string | null;
  /** null for `accepted`. */
  readonly fault: Fault | null;
  /** null for `accepted`. */
  readonly subType: SubType | null;
  /** The message id that the provider assigned (SES); null when there is none. */
  readonly providerId: string | null;
  /**
   * True when the relay or provider itself failed and has surely not taken the message: another one may be
   * asked.
   */
  readonly isServerDown?: true;
  /**
   * True when a server took it that was not asked for the report of success that the sender wants: it sends
   * none.
   */
  readonly isUnreported?: true;
  /** The relay that was asked last, `host:port`, where there are several. */
  readonly relay?: string;
  /**
   * The relays and transports that were passed over in this attempt, each with the reason, where there are
   * several.
   */
  readonly passedOver?: readonly string[];
}

/** One line of `posthorn doctor`: the check, its result, and advice when it failed. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly advice: string | null;
}

/** The limits of one call to `send`. */
export interface SendLimits {
  /** Aborts the attempt: before the final dot the recipients are `deferred`, after it `unknown`. */
  readonly signal: AbortSignal;
  /** Milliseconds from the call after which `send` settles in any case, by the same rule. */
  readonly deadlineMs: number;
  /**
   * Called after all waiting and before a connection is opened or used; false means that this process may not
   * make the attempt, and `send` rejects with `NotBegun`. Absent when attempts are not counted.
   */
  readonly begin?: () => Promise<boolean>;
  /**
   * True where `send` may reject with `TakenBack` once it has begun, instead of waiting for long with what no
   * server has got.
   */
  readonly mayTakeBack?: boolean;
}

/**
 * A transport for mail. `send` settles with one outcome per recipient; it rejects with `NotBegun`, or for a
 * bug of ours.
 */
export interface Transport {
  readonly name: TransportName;
  /**
   * True when the recipient's own server accepts, so that accepted means delivered; a relay or provider only
   * promises to try.
   */
  readonly confirmsDelivery: boolean;
  send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]>;
  /** Checks that mail can leave, without sending any. */
  verify(): Promise<readonly Finding[]>;
  /** Keeps to this part of what a receiving server is given from now on: other processes have the rest. */
  keepTo?(part: Part): void;
  /** Ends idle connections; attempts in progress finish first. */
  close(): Promise<void>;
}
