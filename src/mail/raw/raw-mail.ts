/** A message that stays what it is: its octets, and an index of what readers see in it. */
import type { Leaf, Lock } from './mime-tree.ts';

/** A file in a message, as readers see it. */
export interface RawFile {
  readonly filename: string;
  readonly contentType: string;
  readonly contentId: string | null;
  /** Octets of the decoded file. */
  readonly size: number;
}

/** Why the html of a message is not changed. */
export type HtmlLock = Lock | 'no html' | 'charset' | 'size';

/** The state of the chain of seals that a message came with (RFC 8617 4.4). */
export type ArcChain = 'none' | 'pass' | 'fail';

/** The field by which a message that comes back is known: each address that forwards it adds its token. */
export const FORWARDED_FIELD = 'X-Svc-Forwarded';

/** The facts about a message that is forwarded, as they were at its arrival. */
export interface ForwardFacts {
  /** The token of the address that forwards it, by which a message that comes back is known. */
  readonly token: string;
  /**
   * The results of the checks in the form of Authentication-Results, and the chain; null where it is not
   * sealed.
   */
  readonly seal: { readonly results: string; readonly chain: ArcChain } | null;
}

/** The index of a message, stored beside its octets. */
export interface RawIndex {
  /** The sender's own fields, decoded, each name once. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly attachments: readonly RawFile[];
  /** The html that may be changed where that was asked for; or why none may be. */
  readonly html: Leaf | HtmlLock;
  /** The connection that it came by, for the trace field (RFC 5321 4.4); null when unknown. */
  readonly came: Arrival | null;
  /** Of a message that is forwarded: every octet of it stays. */
  readonly forward?: ForwardFacts;
}

/** The connection by which a message came. Of the client it holds the address alone. */
export interface Arrival {
  /** The name that the client has given itself; null for a protocol without one. */
  readonly helo: string | null;
  /** The address of the client, as it counts for limits. */
  readonly client: string;
  /** The name of this server. */
  readonly by: string;
  /** RFC 3848, such as ESMTPSA; HTTP. */
  readonly protocol: string;
  /** Cipher suite and version; null or absent without TLS, or where they are not known. */
  readonly tls?: string | null;
}

/** An octet-exact message with its index. */
export interface RawContent {
  readonly octets: Buffer;
  readonly index: RawIndex;
}

/** A mailbox as a message names it. The name is decoded and harmless. */
export interface NamedMailbox {
  readonly name: string | null;
  readonly address: string;
}

/** A message that was read. */
export interface RawMail {
  /** In the form in which SMTP carries it. */
  readonly octets: Uint8Array;
  readonly index: Omit<RawIndex, 'came'>;
  readonly from: readonly NamedMailbox[];
  readonly to: readonly NamedMailbox[];
  readonly cc: readonly NamedMailbox[];
  readonly bcc: readonly NamedMailbox[];
  readonly replyTo: readonly NamedMailbox[];
  readonly subject: string;
  /** As readers see them; cut off at `LONGEST_SHOWN`. */
  readonly text: string | null;
  readonly html: string | null;
  /** With its angle brackets; null where it is missing or malformed. */
  readonly messageId: string | null;
  readonly controls: RawControls;
  /**
   * The fingerprint of the message for its Idempotency-Key; null where it has none. A client that writes the
   * same mail again gets the same one.
   */
  readonly digest: string | null;
}

/** The requests to this service in X-Svc- fields and Idempotency-Key. */
export interface RawControls {
  readonly idempotencyKey: string | null;
  readonly trackOpens: boolean;
  readonly trackClicks: boolean;
  /** `name:value` each. */
  readonly tags: readonly string[];
}

/** The most characters of a text or html that are shown. The message itself is whole. */
export const LONGEST_SHOWN = 1_048_576;
/** The most fields of a header. */
export const MOST_FIELDS = 1_000;
/**
 * The most Received fields. RFC 5321 6.3 asks for at least 100; no message passes 50 servers on its way
 * (Postfix: hopcount_limit).
 */
export const MOST_HOPS = 50;

/** Why a message is refused: a sentence, and what it means for a mail server (RFC 3463). */
export class NotSubmittable {
  constructor(
    readonly reason: string,
    readonly status: '5.6.0' | '5.4.6' | '5.3.4' = '5.6.0',
  ) {}
}
