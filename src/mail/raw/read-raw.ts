/** Reads a message that is to stay what it is. It runs in the reading thread: the parser may take seconds. */
import { type Address, addressParser, decodeWords, type Email } from 'postal-mime';
import { seenName } from '../../platform/text/characters.ts';
import { offersExit } from '../html/way-out.ts';
import { impliedFilename } from '../message/attachments.ts';
import { isReservedField } from '../message/reserved-fields.ts';
import { authorsIn } from './authors.ts';
import {
  divideMessage,
  endOfHeader,
  LARGEST_HEADER,
  lettersOf,
  type RawField,
  valueOfField,
} from './header-editor.ts';
import { changeableHtml, lettersIn, offersExitInHtml } from './html-leaf.ts';
import { filesOf, type MessageFile } from './message-files.ts';
import { leavesOf } from './mime-tree.ts';
import { messageIdOf } from './origination.ts';
import {
  LONGEST_SHOWN,
  MOST_FIELDS,
  MOST_HOPS,
  type NamedMailbox,
  NotSubmittable,
  type RawControls,
  type RawFile,
  type RawMail,
} from './raw-mail.ts';
import { spelledOut } from './repair/encoded-words.ts';
import { parseFirstText } from './repair/first-text.ts';
import { PARSER_LIMITS, parseMessage } from './repair/parsable.ts';
import { repeatedField } from './repeated-field.ts';
import { usualMail } from './usual-mail.ts';
import { inWireForm } from './wire-form.ts';

/** The largest message in the form in which it leaves. */
const LARGEST = 25 * 1024 * 1024;

const TOO_MANY_FIELDS = new NotSubmittable(`The message has more than ${MOST_FIELDS} header fields`, '5.6.0');
const LOOP = new NotSubmittable(
  `The message has more than ${MOST_HOPS} Received fields: it seems to run in a circle between servers`,
  '5.4.6',
);
const TOO_LARGE = new NotSubmittable(
  'The message has more than 25 MiB once its lines are those of SMTP',
  '5.3.4',
);
/** Mailboxes in From: a message of several authors has a few. */
const MOST_SENDERS = 50;
const TOO_MANY_SENDERS = new NotSubmittable(`The message has more than ${MOST_SENDERS} addresses in From`);
/**
 * The header is edited for each copy on the thread that answers requests: 2 MB of one field took it 188 ms.
 */
const LARGE_HEADER = new NotSubmittable('The header of the message has more than 256 KiB', '5.3.4');
const NO_PLACE = new NotSubmittable(
  'The message has {{unsubscribeUrl}} in a part that must stay as it is: put it in an html part that is not signed',
);
/** Reads a message. */
export async function readRaw(raw: Buffer): Promise<RawMail | NotSubmittable> {
  const octets = inWireForm(raw);
  if (octets.length > LARGEST) return TOO_LARGE;
  if (endOfHeader(octets) > LARGEST_HEADER) return LARGE_HEADER;
  const { fields } = divideMessage(octets);
  if (fields.length > MOST_FIELDS) return TOO_MANY_FIELDS;
  if (fields.filter(({ name }) => name === 'received').length > MOST_HOPS) return LOOP;
  const repeated = repeatedField(fields);
  if (repeated !== null)
    return new NotSubmittable(`The message has more than one ${repeated} field; RFC 5322 (3.6) allows one`);
  // A message that the parser cannot read is sent as it is, and shown with its first text.
  const leaves = leavesOf(octets);
  const whole = usualMail(octets, fields, leaves) ?? (await parsed(octets));
  const isRead = whole !== null;
  const email = whole ?? (await parseFirstText(octets)) ?? EMPTY;
  const from = authorsIn(fields);
  if (from instanceof NotSubmittable) return from;
  if (from.length > MOST_SENDERS) return TOO_MANY_SENDERS;
  const files = filesOf(email, octets);
  const attachments = files.map(fileOf);
  const shown = {
    subject: seenName(email.subject ?? '').slice(0, 998),
    text: shownText(email.text),
    html: shownText(email.html),
  };
  const to = mailboxes(email.to ?? []);
  const cc = mailboxes(email.cc ?? []);
  const replyTo = mailboxes(email.replyTo ?? []);
  const headers = ownHeaders(email);
  const controls = controlsOf(fields);
  const html = changeableHtml(octets, leaves);
  const isFilled = typeof html !== 'string' && offersExit(lettersIn(octets, html));
  if (!isFilled && offersExit(shown.html ?? '') && offersExitInHtml(octets)) return NO_PLACE;
  return {
    octets,
    index: { headers, attachments, html },
    from,
    to,
    cc,
    bcc: mailboxes(
      fields.filter(({ name }) => name === 'bcc').flatMap((one) => addressParser(lettersOf(one))),
    ),
    replyTo,
    ...shown,
    messageId: messageIdOf(fields),
    controls,
    digest:
      controls.idempotencyKey === null
        ? null
        : isRead
          ? digestOf({ from, to, cc, replyTo, headers, ...shown }, email, files)
          : digestOfOctets(octets),
  };
}

const EMPTY: Email = { headers: [], headerLines: [], attachments: [] } as unknown as Email;

const parsed = (octets: Buffer): Promise<Email | null> => parseMessage(octets, PARSER_LIMITS);

const shownText = (text: string | undefined): string | null =>
  text === undefined ? null : text.slice(0, LONGEST_SHOWN).toWellFormed();

const LONGEST_NAME = 256;

function mailboxes(addresses: readonly Address[]): readonly NamedMailbox[] {
  return addresses
    .flatMap((one) => (one.group === undefined ? [one] : one.group))
    .filter(({ address }) => address !== '')
    .map(({ name, address }) => ({ name: seenName(name).slice(0, LONGEST_NAME) || null, address }));
}

const CONTROLS: ReadonlySet<string> = new Set(['idempotency-key', 'delivered-to']);

/** The sender's own fields as they are read; of one name the first counts, as in mail programs. */
function ownHeaders(email: Email): readonly { readonly name: string; readonly value: string }[] {
  const seen = new Set<string>();
  return email.headers.flatMap(({ key, originalKey, value }) => {
    if (seen.has(key) || isReservedField(key) || CONTROLS.has(key)) return [];
    seen.add(key);
    return [{ name: originalKey, value: decodeWords(value).toWellFormed() }];
  });
}

const LONGEST_FILENAME = 255;

/**
 * The type and subtype of RFC 6838 4.2. Where the semicolon is missing, the parser takes the parameters for a
 * part of them.
 */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?=$|[\s;])/;

/** A file of a message as readers see it, numbered from 0. */
export function fileOf({ described, octets }: MessageFile, index: number): RawFile {
  const { filename, mimeType, contentId } = described;
  const contentType = MEDIA_TYPE.exec(mimeType)?.[0] ?? 'application/octet-stream';
  const name = seenName(filename ?? '')
    .replace(/[/\\]/g, '_')
    .slice(0, LONGEST_FILENAME);
  return {
    // "." and ".." are folders.
    filename: /^\.{0,2}$/.test(name) ? impliedFilename(index, contentType) : name,
    contentType,
    contentId: contentId?.replace(/^<(.*)>$/, '$1') ?? null,
    size: octets.byteLength,
  };
}

function controlsOf(fields: readonly RawField[]): RawControls {
  const said = (name: string): string | null => {
    const field = fields.find((one) => one.name === name);
    return field ? Buffer.from(spelledOut(valueOfField(field)), 'latin1').toString() : null;
  };
  const isAsked = (name: string): boolean => /^(?:true|yes|1)$/i.test(said(name) ?? '');
  return {
    idempotencyKey: said('idempotency-key'),
    trackOpens: isAsked('x-svc-track-opens'),
    trackClicks: isAsked('x-svc-track-clicks'),
    tags: fields.flatMap((field) => (field.name === 'x-svc-tag' ? [spelledOut(valueOfField(field))] : [])),
  };
}

/** A client that repeats a mail writes another date, id and boundary: what is left is the same. */
function digestOf(said: object, { text = '', html = '' }: Email, files: readonly MessageFile[]): string {
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify([said, text, html]));
  for (const { octets } of files) hash.update(octets);
  return hash.digest('hex');
}

const digestOfOctets = (octets: Buffer): string =>
  new Bun.CryptoHasher('sha256').update(octets).digest('hex');

/** One file of a message, numbered as in its index; null where there is none. */
export async function readFile(
  octets: Buffer,
  number: number,
): Promise<(RawFile & { octets: Uint8Array }) | null> {
  const email = await parsed(octets);
  const file = email && filesOf(email, octets)[number];
  return file ? { ...fileOf(file, number), octets: file.octets } : null;
}
