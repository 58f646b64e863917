/**
 * A raw message as it leaves: its header lines edited, its html where that was asked for, and nothing else
 * (RFC 6409 8).
 */
import { foldLines } from 'nodemailer/lib/mime-funcs';
import { dateText, waysOut } from '../compose/fields.ts';
import type { MessageOctets } from '../dkim/canonical.ts';
import { isWithheldField } from '../message/reserved-fields.ts';
import type { Unsubscribe } from '../transport/transport.ts';
import {
  divideMessage,
  fieldOf,
  foldLongLines,
  joinFields,
  LONGEST_LINE,
  type RawField,
  replaceField,
  valueOfField,
  withField,
} from './header-editor.ts';
import { leafEdits } from './html-leaf.ts';
import type { Leaf } from './mime-tree.ts';
import { hasDate, messageIdOf } from './origination.ts';
import type { Arrival } from './raw-mail.ts';
import { spelledOut } from './repair/encoded-words.ts';
import { withEdits } from './wire-form.ts';

/** Other letters for a leaf. */
export interface LeafChange {
  readonly leaf: Leaf;
  readonly letters: string;
}

/** The values that a message leaves with. */
export interface OutboundTraits {
  readonly id: string;
  /** Epoch milliseconds of its acceptance, for the trace field. */
  readonly acceptedAt: number;
  readonly came: Arrival | null;
  /** Epoch milliseconds, where it has no date. */
  readonly date: number;
  /** With its angle brackets, where it has none. */
  readonly messageId: string;
  /** The domains that it is signed for, in lower case. */
  readonly domains: readonly string[];
  readonly unsubscribe: Unsubscribe | null;
  /** The letters of the leaves that change, in the order of the leaves. */
  readonly changes: readonly LeafChange[];
}

/**
 * The message without a signature of this service. What is behind its header stays in place, unless a leaf of
 * it changes.
 */
export function leavingMessage(octets: Buffer, leaving: OutboundTraits): Required<MessageOctets> {
  const edits = leaving.changes.flatMap(({ leaf, letters }) => leafEdits(octets, leaf, letters));
  const edited = withEdits(octets, edits);
  const { fields, rest } = divideMessage(edited);
  const kept = originated(
    withoutWords(fields.filter((field) => !isRemoved(field, leaving.domains))),
    leaving,
  );
  const whole = [...traceOf(leaving), ...withExit(kept, leaving.unsubscribe)];
  return { composed: joinFields(whole), behind: rest };
}

/** A field that never leaves, and a signature of a domain that signs now. */
function isRemoved(field: RawField, domains: readonly string[]): boolean {
  const { name } = field;
  if (name === 'dkim-signature') {
    const domain = /(?:^|;)\s*d\s*=\s*([^\s;]+)/.exec(valueOfField(field))?.[1]?.toLowerCase();
    return domain !== undefined && domains.includes(domain);
  }
  return isWithheldField(name);
}

/**
 * Fields of ids, of links, and of the word that makes one click of a link (RFC 8058): none has a place for
 * encoded words.
 */
const WITHOUT_WORDS =
  /^(?:in-reply-to|references|list-(?:archive|help|owner|post|subscribe|unsubscribe(?:-post)?))$/;
const PRINTABLE = /^[\x20-\x7e]+$/;

/**
 * The names of the fields that the signatures of others cover: of such a field nothing may change (RFC 6376
 * 3.4.2).
 */
const signedNames = (fields: readonly RawField[]): ReadonlySet<string> =>
  new Set(
    fields
      .filter(({ name }) => name === 'dkim-signature' || name === 'arc-message-signature')
      .flatMap((field) => /(?:^|;)\s*h\s*=([^;]*)/.exec(valueOfField(field))?.[1]?.split(':') ?? [])
      .map((name) => name.trim().toLowerCase()),
  );

/**
 * Users of Odoo report that Gmail and Outlook show no way to unsubscribe where the link is in encoded words.
 */
function withoutWords(fields: readonly RawField[]): readonly RawField[] {
  const signed = signedNames(fields);
  return fields.map((field) =>
    WITHOUT_WORDS.test(field.name) && field.octets.includes('=?') && !signed.has(field.name)
      ? spelledField(field)
      : field,
  );
}

function spelledField(field: RawField): RawField {
  const written = valueOfField(field);
  const value = spelledOut(written);
  if (value === written || !PRINTABLE.test(value)) return field;
  const name = field.octets.slice(0, field.octets.indexOf(':'));
  const folded = foldLongLines({ ...field, octets: `${name}: ${value}\r\n` });
  // An id or a link has no place for a fold: a longer one stays in words, which other servers take.
  return folded.octets.split('\r\n').every(({ length }) => length <= LONGEST_LINE) ? folded : field;
}

function originated(fields: readonly RawField[], { date, messageId }: OutboundTraits): readonly RawField[] {
  let all = fields;
  if (!hasDate(all)) all = replaceField(all, fieldOf('Date', dateText(date)));
  if (messageIdOf(all) === null) all = replaceField(all, fieldOf('Message-ID', messageId));
  const isMime = all.some(({ name }) => name.startsWith('content-'));
  const hasVersion = all.some(({ name }) => name === 'mime-version');
  return isMime && !hasVersion ? withField(all, fieldOf('MIME-Version', '1.0')) : all;
}

// A field that the sender has set stays the only one: RFC 2369 3 allows each once, and a second breaks
// one-click.
function withExit(fields: readonly RawField[], unsubscribe: Unsubscribe | null): readonly RawField[] {
  if (unsubscribe === null || fields.some(({ name }) => name.startsWith('list-unsubscribe'))) return fields;
  // The link and the address with the longest hosts have more than the 998 octets of a line (RFC 5322 2.1.1).
  return waysOut(unsubscribe).reduce(
    (all, { name, value }) => withField(all, fieldOf(name, value.replace(', <', ',\r\n <'))),
    fields,
  );
}

/** RFC 5321 4.4. The user, which would be a key, is not named. */
export function traceOf({
  id,
  acceptedAt,
  came,
}: Pick<OutboundTraits, 'id' | 'acceptedAt' | 'came'>): readonly RawField[] {
  if (came === null) return [];
  const { helo, client, by, protocol, tls } = came;
  const from = helo === null ? literalOf(client) : `${harmless(helo)} (${literalOf(client)})`;
  // RFC 8314 4.3 has the clause for the cipher suite; the version is a comment.
  const secured = tls ? ` tls ${tls}` : '';
  const value = `from ${from} by ${harmless(by)} with ${protocol} id ${id}${secured}; ${dateText(acceptedAt)}`;
  return [{ name: 'received', octets: `${foldLines(`Received: ${value}`, 76)}\r\n` }];
}

/** An address as a trace field writes it. Of IPv6 the network is known (`clientAddress`). */
const literalOf = (client: string): string => {
  const address = client.replace(/\/\d+$/, '');
  return `[${address.includes(':') ? 'IPv6:' : ''}${harmless(address)}]`;
};

/** A client names itself as it likes: what would be more than one word or a comment becomes a dash. */
const harmless = (text: string): string => text.replace(/[^\w.:[\]-]/g, '-').slice(0, 255) || 'unknown';
