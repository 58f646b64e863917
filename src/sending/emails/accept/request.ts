import type { SenderDefaults } from '../../../http/auth/principal.ts';
import { type Attachment, readAttachments } from '../../../mail/message/attachments.ts';
import { type Calendar, readCalendar } from '../../../mail/message/calendar.ts';
import { type Header, readHeaders } from '../../../mail/message/headers.ts';
import { type MessageId, readMessageId } from '../../../mail/message/message-id.ts';
import { estimateSize, LARGEST_MESSAGE } from '../../../mail/message/message-size.ts';
import type { RawContent } from '../../../mail/raw/raw-mail.ts';
import type { Failure } from '../../../platform/errors/failure.ts';
import type { Address } from '../../../platform/text/address.ts';
import { hasControls } from '../../../platform/text/characters.ts';
import { NO_LANGUAGE, readLanguage } from '../../../platform/text/language.ts';
import { Problems, type Report } from '../../../platform/text/problems.ts';
import { NOBODY, type Recipients, readRecipients, readReplyTo, readSender } from './recipients.ts';
import type { SendBody } from './request-model.ts';
import { readScheduledAt } from './scheduled-at.ts';

/** A valid send request: parsed, normalised, ready to be stored. */
export interface SendRequest extends Recipients {
  readonly from: Address;
  readonly replyTo: readonly Address[];
  /** Null only with a template. */
  readonly subject: string | null;
  /** Null when the text part is still to be made. */
  readonly text: string | null;
  readonly html: string | null;
  readonly markdown: string | null;
  readonly template: { readonly id: string; readonly variables: Readonly<Record<string, unknown>> } | null;
  /** The language that is asked for, and then the one that a template chose; null where none is known. */
  readonly language: string | null;
  readonly headers: readonly Header[];
  readonly attachments: readonly Attachment[];
  readonly calendar: Calendar | null;
  /** Null where the service makes one. */
  readonly messageId: MessageId | null;
  readonly tags: readonly { readonly name: string; readonly value: string }[];
  /** Epoch milliseconds, after now; null means at once. */
  readonly scheduledAt: number | null;
  /** Null leaves the choice to the sending domain. */
  readonly trackOpens: boolean | null;
  readonly trackClicks: boolean | null;
  /** A message that stays what it is, in place of all that would be composed; null for every other. */
  readonly raw: {
    readonly content: RawContent;
    /** Its own, where it has one that is well formed. */
    readonly messageId: string | null;
    /** All whom its From field names. */
    readonly senders: readonly Address[];
    /**
     * Of a message that is forwarded: its envelope sender, the domain that forwards it, and whom it names.
     */
    readonly forward?: {
      readonly sender: string;
      readonly domain: string;
      readonly keys: readonly string[];
    };
  } | null;
  /** Estimated octets of the finished message, before markdown or a template has made its parts. */
  readonly size: number;
}

/** The circumstances that a request is checked against. */
export interface RequestContext {
  /** Epoch milliseconds. */
  readonly now: number;
  /** In lower-case ASCII. */
  readonly simulatorDomain: string;
  /** The JSON pointer of the body, which differs from `/body` inside a batch. */
  readonly at?: string;
  /** The sender and the reply address of a request that names none. */
  readonly defaults?: SenderDefaults | undefined;
  /** The most recipients; those of a request in JSON by default. */
  readonly mostRecipients?: number | undefined;
}

/**
 * Checks a body that already matches SendBody, and collects everything that is wrong with it. One plain
 * recipient with subject and text takes 1.5 µs.
 */
export function readSendRequest(
  body: SendBody,
  { now, simulatorDomain, at = '/body', defaults, mostRecipients }: RequestContext,
): SendRequest | Failure {
  const problems = new Problems();
  const { report } = problems;
  const parts = {
    from: readFrom(body, defaults, `${at}/from`, report),
    ...readRecipients(body, simulatorDomain, at, report, mostRecipients),
    replyTo: readReplyTo(body.replyTo ?? defaults?.replyTo ?? undefined, `${at}/replyTo`, report),
    ...readContent(body, at, report),
    language: body.language === undefined ? null : chosenTag(body.language, `${at}/language`, report),
    headers: body.headers ? readHeaders(body.headers, `${at}/headers`, report) : [],
    attachments: body.attachments ? readAttachments(body.attachments, `${at}/attachments`, report) : [],
    calendar: body.calendar ? readCalendar(body.calendar, `${at}/calendar`, report) : null,
    messageId: body.messageId === undefined ? null : chosenId(body.messageId, `${at}/messageId`, report),
    tags: body.tags ?? [],
    scheduledAt: readSchedule(body.scheduledAt, now, `${at}/scheduledAt`, report),
    trackOpens: body.trackOpens ?? null,
    trackClicks: body.trackClicks ?? null,
    raw: null,
  };
  const request = { ...parts, size: sizeOf(parts) };
  if (request.size > LARGEST_MESSAGE) report(at, TOO_LARGE);
  return problems.failure(isEmpty(body.markdown) ? EMPTY_MARKDOWN : undefined) ?? request;
}

const EMPTY_MARKDOWN = 'The markdown must not be empty.';
const TOO_LARGE = 'Must make a message of at most 25 MiB, in which base64 makes attachments a third larger.';
const NO_BODY =
  'Must have a body: one of text, html, markdown or templateId; or else attachments or a calendar.';
const TWO_HTMLS = 'Must not be given together with html, since html is made from it.';
const TWO_BODIES = 'Must not be given together with text, html or markdown.';
const NO_TEMPLATE = 'Must be given only together with templateId.';
const NO_SUBJECT = 'Must be given, unless a template has one.';
const EMPTY_SUBJECT = 'Must not be empty.';
const BROKEN_SUBJECT = 'Must not hold line breaks or control characters.';

const isBlank = (text: string): boolean => !/\S/.test(text);
const isEmpty = (text: string | undefined): boolean => text !== undefined && isBlank(text);
const unlessBlank = (text: string | undefined): string | null =>
  text === undefined || isBlank(text) ? null : text;

type Content = Pick<SendRequest, 'subject' | 'text' | 'html' | 'markdown' | 'template'>;

/**
 * The sender. A template may name one that the request leaves out, so nothing is missing before it was read.
 */
const readFrom = (
  { from, templateId }: SendBody,
  defaults: SenderDefaults | undefined,
  path: string,
  report: Report,
): Address =>
  from === undefined && templateId !== undefined
    ? NOBODY
    : readSender(from ?? defaults?.from ?? null, path, report);

/** A blank text or html counts as none. */
function readContent(body: SendBody, at: string, report: Report): Content {
  const content = {
    subject: body.subject ?? null,
    text: unlessBlank(body.text),
    html: unlessBlank(body.html),
    markdown: body.markdown ?? null,
    template: body.templateId === undefined ? null : { id: body.templateId, variables: body.variables ?? {} },
  };
  const { text, html, markdown, template } = content;
  const hasOwnBody = text !== null || html !== null || markdown !== null;
  if (isEmpty(body.markdown)) report(`${at}/markdown`, EMPTY_MARKDOWN);
  if (html !== null && markdown !== null) report(`${at}/markdown`, TWO_HTMLS);
  if (hasOwnBody && template) report(`${at}/templateId`, TWO_BODIES);
  const isFileAlone = body.calendar !== undefined || (body.attachments?.length ?? 0) > 0;
  if (!hasOwnBody && !template && !isFileAlone) report(at, NO_BODY);
  if (body.variables && !template) report(`${at}/variables`, NO_TEMPLATE);
  const wrong = problemOfSubject(body);
  if (wrong) report(`${at}/subject`, wrong);
  return content;
}

function problemOfSubject({ subject, templateId }: SendBody): string | null {
  if (subject === undefined) return templateId === undefined ? NO_SUBJECT : null;
  if (isBlank(subject)) return EMPTY_SUBJECT;
  return hasControls(subject) ? BROKEN_SUBJECT : null;
}

function chosenTag(text: string, path: string, report: Report): string | null {
  const language = readLanguage(text);
  if (language === null) report(path, NO_LANGUAGE);
  return language;
}

function chosenId(text: string, path: string, report: Report): MessageId | null {
  const read = readMessageId(text);
  if ('id' in read) return read;
  report(path, read.problem);
  return null;
}

/** The moment to send at; null for at once. */
export function readSchedule(
  given: string | undefined,
  now: number,
  path: string,
  report: Report,
): number | null {
  if (given === undefined) return null;
  const read = readScheduledAt(given, now);
  if (typeof read === 'number') return read > now ? read : null;
  report(path, read.problem);
  return null;
}

function sizeOf(parts: Omit<SendRequest, 'size'>): number {
  let headerOctets = Buffer.byteLength(parts.subject ?? '');
  for (const { name, value } of parts.headers) headerOctets += name.length + Buffer.byteLength(value);
  return estimateSize({
    text: parts.text,
    html: parts.html ?? parts.markdown,
    attachments: parts.attachments,
    calendar: parts.calendar?.content ?? null,
    headerOctets,
  });
}
