import {
  divideMessage,
  endOfHeader,
  LARGEST_HEADER,
  type RawField,
  valueOfField,
} from '../raw/header-editor.ts';
import { withLineEnds } from '../raw/line-ends.ts';
import { FORWARDED_FIELD, MOST_HOPS } from '../raw/raw-mail.ts';
import { spelledOut } from '../raw/repair/encoded-words.ts';
import { DELIVERED_FIELDS } from './address-keys.ts';

/** The facts in the header of a received message about its place among others. */
export interface HeaderFacts {
  /** With its angle brackets; null where there is none that can be read. */
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  /** The messages before it, the first of the thread first. */
  readonly references: readonly string[];
  /** True of mail that no person wrote to this address: answers of programs, reports, lists. */
  readonly isAutomatic: boolean;
  /** Received fields: the servers that the message has passed. */
  readonly hops: number;
  /** The tokens of the addresses that have forwarded it; the first 50. */
  readonly forwardTokens: readonly string[];
}

/** References of a thread that are kept: the first and the last of more. */
const MOST_REFERENCES = 100;
/** A Message-ID with its brackets is a part of one line (RFC 5322 2.1.1). */
const MESSAGE_ID = /<[^<>\s\p{Cc}]{1,996}>/gu;

/** The fields of the header, of which only the first octets are looked at. */
export const fieldsOf = (raw: Buffer): readonly RawField[] =>
  divideMessage(raw.subarray(0, LARGEST_HEADER)).fields;

/** Reads those facts from the fields of a header. */
export function headerFacts(fields: readonly RawField[]): HeaderFacts {
  const values = (name: string): string[] =>
    fields.flatMap((field) => (field.name === name ? [valueOfField(field)] : []));
  const ids = (name: string): string[] => spelledOut(values(name).join(' ')).match(MESSAGE_ID) ?? [];
  const [inReplyTo = null] = ids('in-reply-to');
  return {
    messageId: ids('message-id')[0] ?? null,
    inReplyTo,
    references: shortened([...new Set(ids('references'))]),
    isAutomatic: isAutomatic(fields, values),
    hops: values('received').length,
    forwardTokens: values(FORWARDED_FIELD.toLowerCase()).slice(0, MOST_HOPS),
  };
}

/** The first one names the thread, and the last ones are the nearest. */
const shortened = (ids: readonly string[]): readonly string[] =>
  ids.length <= MOST_REFERENCES ? ids : [...ids.slice(0, 1), ...ids.slice(1 - MOST_REFERENCES)];

/**
 * The fields that only programs write, whatever they say: lists (RFC 2919, RFC 2369), and answers of programs
 * from before RFC 3834.
 */
const OF_PROGRAMS = [
  'list-id',
  'list-post',
  'list-unsubscribe',
  'mailing-list',
  'x-autoreply',
  'x-autoreply-from',
  'x-autorespond',
  'x-autoresponder',
  'x-autoresponse',
  'x-mail-autoreply',
  'x-failed-recipients',
] as const;

/**
 * RFC 3834 2: mail of these kinds must not be answered. `Precedence` was never a standard, and is written by
 * all.
 */
const PRECEDENCE = /^(?:bulk|junk|list|auto_reply)\b/i;
/**
 * Reports are multipart/report (RFC 6522), and some have their part alone: delivery (RFC 3464) and reading
 * (RFC 8098).
 */
const REPORT =
  /^(?:multipart\/report|message\/(?:global-)?(?:delivery-status|disposition-notification|feedback-report))\b/i;

/**
 * True for the name that mail servers write their reports under (RFC 5321 4.5.5), whatever their envelope
 * sender is.
 */
const isMailerDaemon = (from: string): boolean =>
  /^\s{0,9}mailer-daemon(?:[@\s(>]|$)/i.test(from.slice(from.lastIndexOf('<') + 1));

/** True for a message whose type is that of a report, whatever the report is about. */
export const isReport = (fields: readonly RawField[]): boolean =>
  fields.some((field) => field.name === 'content-type' && REPORT.test(valueOfField(field)));

function isAutomatic(fields: readonly RawField[], values: (name: string) => string[]): boolean {
  // RFC 3834 5: "no" is mail of a person; comments and parameters may follow the keyword.
  if (values('auto-submitted').some((value) => !/^no(?:[\s;(]|$)/i.test(value))) return true;
  if (OF_PROGRAMS.some((name) => values(name).length > 0)) return true;
  if (values('from').some(isMailerDaemon)) return true;
  return (
    [...values('precedence'), ...values('x-precedence')].some((value) => PRECEDENCE.test(value)) ||
    isReport(fields)
  );
}

/**
 * The message that began the thread: the first of References, then In-Reply-To (RFC 5322 3.6.4); null where
 * it names none.
 */
export const namedRoot = ({
  references,
  inReplyTo,
}: Pick<HeaderFacts, 'references' | 'inReplyTo'>): string | null => references[0] ?? inReplyTo;

const CR = 0x0d;
const LF = 0x0a;

/**
 * Looks for a line that ends with CR or LF alone, chunk by chunk. RFC 5321 2.3.8 forbids both, and servers on
 * the way that read them differently let a sender hide a second message in the first. Several CR before an LF
 * are one line end: Postfix and Exim take them, and CRLF, dot, CRLF alone ends a message all the same.
 */
export class LineEnds {
  #isBare = false;
  #isAfterCr = false;
  #isRepeated = false;

  /** One pass over the octets: a search for each line end took 2.6 s for 32 MiB of them (measured). */
  add(chunk: Uint8Array): void {
    if (this.#isBare) return;
    let isAfterCr = this.#isAfterCr;
    for (let at = 0; at < chunk.length; at++) {
      const octet = chunk[at];
      if ((octet === LF) !== isAfterCr) {
        if (octet !== CR) {
          this.#isBare = true;
          return;
        }
        this.#isRepeated = true;
      }
      isAfterCr = octet === CR;
    }
    this.#isAfterCr = isAfterCr;
  }

  /** True when one was found. The octets end here. */
  hasBare(): boolean {
    return this.#isBare || this.#isAfterCr;
  }

  /**
   * The octets that were looked at, with one CR before each LF; null where a line ends with CR or LF alone.
   */
  withSingleReturns(raw: Buffer): Buffer | null {
    if (this.hasBare()) return null;
    return this.#isRepeated ? withLineEnds(raw) : raw;
  }
}

/** The same for octets that are all here. */
export function withSingleReturns(raw: Buffer): Buffer | null {
  const ends = new LineEnds();
  ends.add(raw);
  return ends.withSingleReturns(raw);
}

/** Octets of the empty line behind the header. */
const EMPTY_LINE = 2;

/** True when the header goes on beyond the octets that are read. */
export const hasLargeHeader = (raw: Buffer): boolean =>
  raw.length > LARGEST_HEADER && endOfHeader(raw.subarray(0, LARGEST_HEADER + EMPTY_LINE)) > LARGEST_HEADER;

/**
 * The fields that servers on the way and the one of a mailbox add: the same message has others when it comes
 * by another way. Those of mbox files change with each look into them, and some servers show them (GNU
 * Mailutils).
 */
const SERVER_FIELDS: ReadonlySet<string> = new Set([
  'received',
  'return-path',
  'delivery-date',
  ...DELIVERED_FIELDS,
  'status',
  'x-status',
  'x-uid',
  'x-imap',
  'x-imapbase',
  'x-keywords',
  'content-length',
]);

/** The fingerprint of a message, the same on whichever way it comes again. The body is hashed as it is. */
export function contentDigest(raw: Buffer): string {
  const { fields, rest } = divideMessage(raw.subarray(0, LARGEST_HEADER));
  const kept = fields.flatMap(({ name, octets }) => (SERVER_FIELDS.has(name) ? [] : [octets]));
  return new Bun.CryptoHasher('sha256')
    .update(Buffer.from(kept.join(''), 'latin1'))
    .update(rest)
    .update(raw.subarray(LARGEST_HEADER))
    .digest('hex');
}
