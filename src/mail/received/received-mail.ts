import type { Email } from 'postal-mime';
import { storableText } from '../../platform/db/storable.ts';
import { seenName } from '../../platform/text/characters.ts';
import { replyText } from '../inbound/reply-text/reply-text.ts';
import { joinFields, type RawField, valueOfField } from '../raw/header-editor.ts';
import { filesOf } from '../raw/message-files.ts';
import type { NamedMailbox, RawFile } from '../raw/raw-mail.ts';
import { LONGEST_SHOWN, MOST_FIELDS } from '../raw/raw-mail.ts';
import { fileOf } from '../raw/read-raw.ts';
import { parseFirstText } from '../raw/repair/first-text.ts';
import { PARSER_LIMITS, parseMessage } from '../raw/repair/parsable.ts';
import { headerAddressKeys } from './address-keys.ts';
import { contentDigest, fieldsOf, type HeaderFacts, headerFacts } from './header.ts';
import { mailboxes, senderOf } from './shown-mailboxes.ts';

/** A received message as readers see it. */
export interface ReceivedMail extends HeaderFacts {
  /** `contentDigest` of the message. It is made where the message is read: both take its header apart. */
  readonly digest: string;
  readonly from: NamedMailbox | null;
  readonly to: readonly NamedMailbox[];
  readonly cc: readonly NamedMailbox[];
  readonly replyTo: readonly NamedMailbox[];
  readonly subject: string | null;
  /** ISO 8601; null where the message has none that can be read. */
  readonly date: string | null;
  /** The first `LONGEST_SHOWN` characters. */
  readonly text: string | null;
  readonly html: string | null;
  /**
   * The text without the quotation and the signature, of the html where there is no text; null where there is
   * neither.
   */
  readonly replyText: string | null;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly attachments: readonly RawFile[];
  /** Every address in the header, in the form in which addresses are compared. */
  readonly addressKeys: readonly string[];
}

/** RFC 5322 2.1.1. */
const LONGEST_SUBJECT = 998;
const LONGEST_VALUE = 10_000;
/** Files that are listed. */
const MOST_FILES = 1_000;

/**
 * Reads a received message. One that the parser cannot read has the fields of its header and its first text.
 * It never throws.
 */
export async function readReceived(raw: Buffer): Promise<ReceivedMail> {
  const [fields, digest] = [fieldsOf(raw), contentDigest(raw)];
  const email = (await parseMessage(raw, PARSER_LIMITS)) ?? (await parseFirstText(raw));
  return email === null ? withFields(fields, digest) : mailOf(email, raw, fields, digest);
}

/** Reads the fields of a received message alone. */
export async function readHeader(raw: Buffer): Promise<ReceivedMail> {
  const [fields, digest] = [fieldsOf(raw), contentDigest(raw)];
  const email = await parseMessage(joinFields(fields), PARSER_LIMITS);
  return email === null ? withFields(fields, digest) : mailOf(email, Buffer.alloc(0), fields, digest);
}

const mailOf = (email: Email, raw: Buffer, fields: readonly RawField[], digest: string): ReceivedMail => {
  const [text, html] = [shownText(email.text), shownText(email.html)];
  return {
    ...headerFacts(fields),
    digest,
    addressKeys: headerAddressKeys(fields),
    from: senderOf(email),
    to: mailboxes(email.to ?? []),
    cc: mailboxes(email.cc ?? []),
    replyTo: mailboxes(email.replyTo ?? []),
    subject: email.subject === undefined ? null : seenName(email.subject).slice(0, LONGEST_SUBJECT),
    date: momentOf(email.date),
    text,
    html,
    replyText: ownText(text, html),
    headers: email.headers
      .slice(0, MOST_FIELDS)
      .map(({ originalKey, value }) => ({ name: originalKey, value: storableText(value, LONGEST_VALUE) })),
    attachments: filesOf(email, raw).slice(0, MOST_FILES).map(fileOf),
  };
};

const ownText = (text: string | null, html: string | null): string | null =>
  text === null && html === null ? null : storableText(replyText({ text, html }), LONGEST_SHOWN);

/** A message of which only the fields can be read. */
export const unreadMail = (raw: Buffer): ReceivedMail => withFields(fieldsOf(raw), contentDigest(raw));

const withFields = (fields: readonly RawField[], digest: string): ReceivedMail => ({
  ...headerFacts(fields),
  digest,
  addressKeys: headerAddressKeys(fields),
  from: null,
  to: [],
  cc: [],
  replyTo: [],
  subject: null,
  date: null,
  text: null,
  html: null,
  replyText: null,
  attachments: [],
  headers: fields
    .filter(({ name }) => name !== '')
    .slice(0, MOST_FIELDS)
    .map((field) => ({
      name: field.octets.slice(0, field.octets.indexOf(':')).trim(),
      value: storableText(Buffer.from(valueOfField(field), 'latin1').toString(), LONGEST_VALUE),
    })),
});

/** PostgreSQL and JSON take years of four digits. */
const LATEST = Date.UTC(9999, 11, 31);

function momentOf(date: string | undefined): string | null {
  const at = Date.parse(date ?? '');
  return Number.isNaN(at) || at < 0 || at > LATEST ? null : new Date(at).toISOString();
}

const shownText = (text: string | undefined): string | null =>
  text === undefined ? null : storableText(text, LONGEST_SHOWN);
