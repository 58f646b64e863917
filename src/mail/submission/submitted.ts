/**
 * A mail that names a template, converted to the body of `POST /v1/emails`: the template's content takes the
 * place of the mail's, so that nothing of it can stay what it is. Every other mail does (src/mail/raw).
 */

import { type Address, decodeWords, type Email } from 'postal-mime';
import { impliedFilename } from '../message/attachments.ts';
import { isReservedField } from '../message/reserved-fields.ts';
import { authorsIn } from '../raw/authors.ts';
import { filesOf, type MessageFile } from '../raw/message-files.ts';
import { NotSubmittable, type RawMail } from '../raw/raw-mail.ts';
import { readRaw } from '../raw/read-raw.ts';
import { PARSER_LIMITS, parseMessage } from '../raw/repair/parsable.ts';
import { repeatedField } from '../raw/repeated-field.ts';
import { fieldsOf } from '../received/header.ts';

/** The body of a send request. */
export interface SubmittedEmail {
  readonly from: string;
  /** The visible recipients; when empty, the message says `To: undisclosed-recipients:;`. */
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly replyTo?: readonly string[];
  /** Absent when the message has none. */
  readonly subject?: string;
  /** The id or alias of a template. */
  readonly templateId?: string;
  readonly variables?: unknown;
  /** The language of the template. */
  readonly language?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly SubmittedFile[];
}

interface SubmittedFile {
  readonly filename: string;
  /** The file in base64. */
  readonly content: string;
  readonly contentType: string;
  readonly contentId?: string;
}

/**
 * A request, with the idempotency key in the header `Idempotency-Key`; null when there is none.
 * `X-Svc-Template`, `X-Svc-Variables` and `X-Svc-Language` name a template, its values and its language.
 */
export interface Submission {
  readonly email: SubmittedEmail;
  readonly idempotencyKey: string | null;
}

/** Reads a mail that stays what it is; or a request, where it names a template. */
export const readSubmitted = async (
  raw: Buffer,
  recipients: readonly string[],
): Promise<RawMail | Submission | NotSubmittable> =>
  isTemplated(raw) ? readSubmission(raw, recipients) : readRaw(raw);

/** True when a mail has its content made by a template. */
const isTemplated = (raw: Buffer): boolean =>
  fieldsOf(raw).some(({ name }) => name === TEMPLATE || name === VARIABLES);

/** Reads a mail. The envelope decides who receives it; the header decides which recipients are visible. */
export const readSubmission = async (
  raw: Buffer,
  recipients: readonly string[],
): Promise<Submission | NotSubmittable> => {
  const fields = fieldsOf(raw);
  const repeated = repeatedField(fields);
  if (repeated !== null)
    return new NotSubmittable(`The message has more than one ${repeated} field; RFC 5322 (3.6) allows one`);
  const email = await parseMessage(raw, PARSER_LIMITS);
  if (email === null) return new NotSubmittable('The message cannot be read');
  const authors = authorsIn(fields);
  if (authors instanceof NotSubmittable) return authors;
  const [from] = authors;
  const content = contentOf(email);
  if (content instanceof NotSubmittable) return content;
  return {
    idempotencyKey: headerOf(email, 'idempotency-key'),
    email: {
      from: written({ name: from?.name ?? '', address: from?.address ?? '' }),
      ...divide(email, recipients),
      ...some('replyTo', mailboxes(email.replyTo ?? []).map(written)),
      ...content,
      ...(email.headers.some(isKept) ? { headers: ownHeaders(email) } : {}),
      ...some('attachments', filesOf(email, raw).map(file)),
    },
  };
};

/** Some programs write a long value as encoded words, ASCII too. */
function headerOf(email: Email, name: string): string | null {
  const field = email.headers.find(({ key }) => key === name);
  return field ? decodeWords(field.value).trim() : null;
}

type SubmittedContent = Pick<SubmittedEmail, 'subject' | 'templateId' | 'variables' | 'language'>;

/**
 * The content of a message. Every message has some, so with a template it gives way: only the subject wins,
 * as in a request.
 */
function contentOf(email: Email): SubmittedContent | NotSubmittable {
  const { subject = '' } = email;
  const templateId = headerOf(email, TEMPLATE);
  const values = headerOf(email, VARIABLES);
  const language = headerOf(email, LANGUAGE);
  try {
    return {
      ...(templateId === null ? {} : { templateId }),
      ...(values === null ? {} : { variables: JSON.parse(values) as unknown }),
      ...(language === null ? {} : { language }),
      ...(subject === '' ? {} : { subject }),
    };
  } catch {
    return new NotSubmittable('The header field X-Svc-Variables is no JSON');
  }
}

const TEMPLATE = 'x-svc-template';
const VARIABLES = 'x-svc-variables';
const LANGUAGE = 'x-svc-language';

interface SubmittedMailbox {
  readonly name: string;
  readonly address: string;
}

const mailboxes = (addresses: readonly Address[]): SubmittedMailbox[] =>
  addresses
    .flatMap((one) => (one.group === undefined ? [one] : one.group))
    .filter(({ address }) => address !== '');

// The name is quoted and escaped, so that the request's grammar reads it back unchanged.
const written = ({ name, address }: SubmittedMailbox): string =>
  name === '' ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;

/** Sorts the envelope recipients by the header field that shows them; all others get a blind copy. */
const divide = (email: Email, recipients: readonly string[]): Pick<SubmittedEmail, 'to' | 'cc' | 'bcc'> => {
  const left = new Map(recipients.map((address) => [address.toLowerCase(), address]));
  const shown = (addresses: readonly Address[] | undefined) =>
    mailboxes(addresses ?? [])
      .filter(({ address }) => left.delete(address.toLowerCase()))
      .map(written);
  const to = shown(email.to);
  const cc = shown(email.cc);
  const bcc = [...left.values()];
  if (to.length > 0) return { to, ...some('cc', cc), ...some('bcc', bcc) };
  if (cc.length > 0) return { to: cc, ...some('bcc', bcc) };
  // No recipient is visible. A single hidden one may be named to itself; several would be named to each
  // other.
  return bcc.length === 1 ? { to: bcc } : { to: [], bcc };
};

const some = <Name extends string, Value>(
  name: Name,
  list: readonly Value[],
): { [key in Name]?: readonly Value[] } =>
  (list.length === 0 ? {} : { [name]: list }) as { [key in Name]?: readonly Value[] };

const isKept = ({ key }: { readonly key: string }): boolean => !isReservedField(key) && !DROPPED.has(key);

const ownHeaders = (email: Email): Record<string, string> =>
  // The first field of a name counts, as in mail programs.
  Object.fromEntries(
    email.headers
      .filter(isKept)
      .reverse()
      .map(({ originalKey, value }) => [originalKey, value]),
  );

/** Fields that are dropped besides the reserved ones. */
const DROPPED: ReadonlySet<string> = new Set(['delivered-to', 'idempotency-key']);

const file = (
  { described: { filename, mimeType, contentId, related }, octets }: MessageFile,
  index: number,
): SubmittedFile => ({
  filename: filename || impliedFilename(index, mimeType),
  content: Buffer.from(octets).toString('base64'),
  contentType: mimeType,
  ...(related && contentId ? { contentId: contentId.replace(/^<(.*)>$/, '$1') } : {}),
});
