import type { SenderDefaults } from '../../../http/auth/principal.ts';
import { withTestExit } from '../../../mail/html/way-out.ts';
import { estimateSize, LARGEST_MESSAGE } from '../../../mail/message/message-size.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { isLonger } from '../../../platform/errors/text-length.ts';
import { Problems } from '../../../platform/text/problems.ts';
import { readReplyTo, readSender } from './recipients.ts';
import type { SendRequest } from './request.ts';
import type { SendBody } from './request-model.ts';

/** The template that a message was made from, as `emails.content` holds it. */
export interface UsedTemplate {
  readonly version: number;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * The parts of an email that a template makes. The subject, the sender and the reply addresses are null where
 * the template has none.
 */
export interface FilledTemplate {
  readonly templateId: string;
  readonly version: number;
  /** The language that was chosen; null where the template names none for its own content. */
  readonly language: string | null;
  readonly subject: string | null;
  readonly html: string | null;
  readonly text: string | null;
  readonly from: string | null;
  readonly replyTo: readonly string[];
  /**
   * The revision that the template must still have when the email is accepted (`template_revision` of its
   * insert); null where it was looked up for this email.
   */
  readonly rememberedRevision: number | null;
}

/** The variables of a template besides those of a request: the recipient and the event. */
export interface Circumstances {
  readonly contact?: Readonly<Record<string, unknown>> | null;
  readonly campaign?: { readonly name: string } | null;
  readonly event?: Readonly<Record<string, unknown>> | null;
  /** The page on which the recipient chooses what to get. */
  readonly preferencesUrl?: string;
}

/** A template that is to be filled with the values of one email. `at` is the JSON pointer of the request. */
export interface TemplateFilling {
  readonly owner: { readonly workspaceId: string; readonly livemode: boolean };
  /** Its id or alias. */
  readonly name: string;
  /** The version that is sent when left out. */
  readonly version?: number | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  /** The language that is asked for; that of the contact when null or left out. */
  readonly language?: string | null;
  readonly circumstances?: Circumstances | undefined;
  /** True where the template may be one that was found before: then `rememberedRevision` is to be heeded. */
  readonly mayBeRemembered?: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly at: string;
}

/** Renders a template: a 404, 422 or 503 where that cannot be done. */
export type FillTemplate = (asked: TemplateFilling) => Promise<FilledTemplate | Failure>;

/** The marks of an email that a member sends to colleagues as a test. */
export interface TestForm {
  /** The prefix of the subject that the template makes. */
  readonly subjectPrefix: string;
  /**
   * The page that says that it is a test, in the place of the link to unsubscribe; null for the link of the
   * recipient.
   */
  readonly exitUrl: string | null;
}

/** The circumstances that a request is filled in. */
interface Filler {
  readonly sender: TemplateFilling['owner'] & { readonly senderDefaults?: SenderDefaults };
  readonly body: Pick<SendBody, 'from' | 'replyTo'>;
  readonly now: number;
  readonly at: string;
  readonly templateVersion?: number;
  readonly test?: TestForm;
  readonly circumstances?: Circumstances;
  readonly mayBeRemembered?: boolean;
}

/** A request whose content came from its template. */
export interface FilledRequest {
  readonly request: SendRequest;
  readonly templateId: string;
  readonly used: UsedTemplate;
  readonly rememberedRevision: number | null;
}

const LONGEST_SUBJECT = 998;
const NO_SUBJECT = 'Must be given: the template has no subject, or an empty one for these variables.';
const LONG_SUBJECT = `The template makes a subject of more than ${LONGEST_SUBJECT} characters of these variables.`;
const TOO_LARGE = 'Must make a message of at most 25 MiB.';

/** Why a subject that a template has made is too long, in a sentence; null for a right one. */
export const problemOfLength = (subject: string): string | null =>
  isLonger(subject, LONGEST_SUBJECT) ? LONG_SUBJECT : null;

/**
 * Why a request is refused for the subject that its template has made, in a sentence; null for a right one.
 */
export const problemOfRendered = (subject: string | null): string | null =>
  /\S/.test(subject ?? '') ? problemOfLength(subject ?? '') : NO_SUBJECT;

/**
 * Fills in what the template of a request says: subject, sender and reply address only where the request does
 * not, and the defaults of the workspace where neither does.
 */
export async function fillRequest(
  fillTemplate: FillTemplate,
  request: SendRequest,
  filler: Filler,
): Promise<FilledRequest | Failure> {
  const { sender, body, now, at, templateVersion, test, circumstances } = filler;
  const { id = '', variables = {} } = request.template ?? {};
  const filled = await fillTemplate({
    owner: sender,
    name: id,
    version: templateVersion,
    values: variables,
    language: request.language,
    circumstances,
    now,
    at,
    mayBeRemembered: filler.mayBeRemembered ?? false,
  });
  if (filled instanceof Failure) return filled;
  const { templateId, version, language, rememberedRevision } = filled;
  const shown = (part: string | null) => (test ? withTestExit(part, test.exitUrl) : part);
  const [html, text] = [shown(filled.html), shown(filled.text)];
  const problems = new Problems();
  const { report } = problems;
  const subject = request.subject ?? (filled.subject && `${test?.subjectPrefix ?? ''}${filled.subject}`);
  const { from: defaultFrom = null, replyTo: defaultReplyTo = null } = sender.senderDefaults ?? {};
  const replies = filled.replyTo.length > 0 ? filled.replyTo : (defaultReplyTo ?? undefined);
  const parts = {
    from:
      body.from === undefined ? readSender(filled.from ?? defaultFrom, `${at}/from`, report) : request.from,
    replyTo: body.replyTo === undefined ? readReplyTo(replies, `${at}/replyTo`, report) : request.replyTo,
    subject,
    html,
    text,
    language,
  };
  const wrong = problemOfRendered(subject);
  if (wrong !== null) report(`${at}/subject`, wrong);
  const size =
    request.size +
    estimateSize({ text, html, attachments: [], headerOctets: Buffer.byteLength(subject ?? '') });
  if (size > LARGEST_MESSAGE) report(at, TOO_LARGE);
  const refused = problems.failure();
  if (!refused)
    return {
      request: { ...request, ...parts, size },
      templateId,
      used: { version, variables },
      rememberedRevision,
    };
  // The template as it is now decides about what is refused.
  return rememberedRevision === null
    ? refused
    : fillRequest(fillTemplate, request, { ...filler, mayBeRemembered: false });
}
