import { offersExit } from '../../../mail/html/way-out.ts';
import type { MessageReports, RecipientReports } from '../../../mail/message/asked-reports.ts';
import type { Calendar } from '../../../mail/message/calendar.ts';
import type { HtmlLock, RawContent } from '../../../mail/raw/raw-mail.ts';
import type { Address } from '../../../platform/text/address.ts';
import type { SendRequest } from './request.ts';
import type { UsedTemplate } from './templated.ts';

/** The two parts that markdown is rendered to. */
export interface RenderedMarkdown {
  readonly html: string;
  readonly text: string;
}

/** A mailbox in its stored form: name and address apart, so that it is never parsed again. */
export type StoredMailbox = Pick<Address, 'name' | 'address'>;

/** Everything of a message but its content, as `emails.envelope` holds it. */
export interface Envelope {
  readonly from: StoredMailbox;
  readonly to: readonly StoredMailbox[];
  readonly cc: readonly StoredMailbox[];
  readonly bcc: readonly StoredMailbox[];
  readonly replyTo: readonly StoredMailbox[];
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly tags: readonly { readonly name: string; readonly value: string }[];
  readonly attachments: readonly {
    readonly filename: string;
    readonly contentType: string;
    readonly contentId: string | null;
    readonly size: number;
  }[];
  readonly trackOpens: boolean | null;
  readonly trackClicks: boolean | null;
  /** Its language, where one is known. */
  readonly language?: string | undefined;
  /** The contact that it is for, where a flow sends it: an act of that contact keeps it away. */
  readonly contactId?: string | undefined;
  /** The audience whose joining began that flow: the email belongs to it, and who leaves it gets no more. */
  readonly audienceId?: string | undefined;
  /** The thread that it continues, where it answers a received message. */
  readonly threadId?: string | undefined;
  /** True of a message that stays what it is: its octets name its recipients. */
  readonly isRaw?: true | undefined;
  /** Why tracking or the link to unsubscribe, which were requested, could not be put into a raw message. */
  readonly untouched?: HtmlLock | undefined;
  /** Of a message that is forwarded: its envelope sender, '' for the null one. */
  readonly forwardedFrom?: string | undefined;
  /**
   * The people whom a message that is forwarded names, by the keys of their addresses; `ANYONE` of one that
   * names too many.
   */
  readonly forwardedKeys?: readonly string[] | undefined;
  /** With its angle brackets; the same in every attempt. */
  readonly messageId: string;
  /** The envelope of an SMTP submission, when it has more than recipients. */
  readonly submitted?: SubmittedTraits | undefined;
  /** The estimated octets of the finished message, which are asked for before it is read. */
  readonly size: number;
}

/** The contact that a flow sends an email to, and the audience whose joining began it, where one did. */
export type FlowRecipient = Required<Pick<Envelope, 'contactId' | 'audienceId'>>;

/** The envelope that an email was submitted with. */
export interface SubmittedTraits extends MessageReports {
  /**
   * The address that gets the reports; null for the null sender, which gets none and stays null on the way
   * out.
   */
  readonly sender: string | null;
  /** The reports that are asked for, by recipient, over to, cc and bcc. */
  readonly recipients: readonly RecipientReports[];
}

/** A mailbox without the name that it has not. */
type LeanMailbox = Pick<StoredMailbox, 'address'> & {
  readonly name?: StoredMailbox['name'] | undefined;
};

type List = 'to' | 'cc' | 'bcc' | 'replyTo';

/**
 * An envelope as it is stored: without empty lists, default values, and a Message-ID that follows from the id
 * and the sender of the email. They were half of it.
 */
export type StoredEnvelope = {
  readonly [Member in Exclude<keyof Envelope, 'from' | 'size' | List>]?:
    | NonNullable<Envelope[Member]>
    | undefined;
} & { readonly [Member in List]?: readonly LeanMailbox[] | undefined } & {
  readonly from: LeanMailbox;
  readonly size: number;
};

const EMPTY = {
  headers: [],
  tags: [],
  attachments: [],
  trackOpens: null,
  trackClicks: null,
} as const satisfies Partial<Envelope>;

/** The Message-ID of an email by the domain of its sender. */
export const messageIdOf = (id: string, domain: string): string => `<${id}@${domain}>`;

/** The one that is not stored: the address may write its domain in another form than the header does. */
const impliedMessageId = (id: string, { address }: LeanMailbox): string =>
  messageIdOf(id, address.slice(address.lastIndexOf('@') + 1));

const lean = ({ name, address }: StoredMailbox): LeanMailbox => ({ name: name ?? undefined, address });
const whole = ({ name = null, address }: LeanMailbox): StoredMailbox => ({ name, address });

const unlessEmpty = <Item>(list: readonly Item[]): readonly Item[] | undefined =>
  list.length === 0 ? undefined : list;
const mailboxes = (list: readonly StoredMailbox[]): readonly LeanMailbox[] | undefined =>
  unlessEmpty(list)?.map(lean);

/**
 * The envelope of an email without what is empty or can be told. That is undefined, which JSON leaves out:
 * all envelopes have one shape so, while members that are taken away, or added to some alone, make the
 * runtime describe each object again.
 */
export function storedEnvelope(id: string, envelope: Envelope): StoredEnvelope {
  const { from, messageId } = envelope;
  return {
    from: lean(from),
    to: mailboxes(envelope.to),
    cc: mailboxes(envelope.cc),
    bcc: mailboxes(envelope.bcc),
    replyTo: mailboxes(envelope.replyTo),
    headers: unlessEmpty(envelope.headers),
    tags: unlessEmpty(envelope.tags),
    attachments: unlessEmpty(envelope.attachments),
    trackOpens: envelope.trackOpens ?? undefined,
    trackClicks: envelope.trackClicks ?? undefined,
    language: envelope.language,
    contactId: envelope.contactId,
    audienceId: envelope.audienceId,
    threadId: envelope.threadId,
    submitted: envelope.submitted,
    untouched: envelope.untouched,
    isRaw: envelope.isRaw,
    forwardedFrom: envelope.forwardedFrom,
    forwardedKeys: envelope.forwardedKeys,
    messageId: messageId === impliedMessageId(id, from) ? undefined : messageId,
    size: envelope.size,
  } satisfies Record<keyof Envelope, unknown>;
}

/** The envelope of an email that was stored, whole again. */
export function wholeEnvelope(id: string, stored: unknown): Envelope {
  const { from, to = [], cc = [], bcc = [], replyTo = [], ...rest } = stored as StoredEnvelope;
  return {
    ...EMPTY,
    messageId: impliedMessageId(id, from),
    ...(rest as Pick<Envelope, 'size'>),
    from: whole(from),
    to: to.map(whole),
    cc: cc.map(whole),
    bcc: bcc.map(whole),
    replyTo: replyTo.map(whole),
  };
}

/**
 * The content of an email of a campaign, in place of its text: the campaign has the text, and this names the
 * person.
 */
export interface CampaignReference {
  readonly contact: Readonly<Record<string, unknown>>;
  /** The subject in the row of the email is that of this person, and is sent as it is. */
  readonly hasSubject?: true;
}

/**
 * The content of a message, which `emails.content` holds packed (packed-content.ts). `attachments` are
 * base64, in the envelope's order.
 */
export interface Content {
  readonly text: string | null;
  readonly html: string | null;
  readonly markdown: string | null;
  readonly attachments: readonly string[];
  readonly calendar?: Calendar;
  /** Its source, where that was a template. */
  readonly template?: UsedTemplate;
  /** In place of text and html where a campaign says what they are. */
  readonly campaign?: CampaignReference;
  /** The message as it came, which leaves so; text and html are what readers see of it. */
  readonly raw?: RawContent;
}

/** The columns of an `emails` row that the message itself fills. */
export interface StoredMessage {
  readonly sender_key: string;
  readonly subject: string;
  readonly tags: readonly string[];
  readonly envelope: Envelope;
  readonly content: Content;
}

/**
 * The row that a request is stored as. A missing text part is not stored: it is made from the html whenever
 * it is needed.
 */
export function storedMessage(
  id: string,
  request: SendRequest,
  rendered: RenderedMarkdown | null,
  template: UsedTemplate | null,
  recipient: FlowRecipient | undefined,
  submitted: SubmittedTraits | undefined,
  threadId: string | undefined,
): StoredMessage {
  return {
    sender_key: request.from.key,
    subject: request.subject ?? '',
    tags: request.tags.map(({ name, value }) => `${name}:${value}`),
    envelope: {
      // Mailboxes as they were read: `storedEnvelope` takes of each what is stored.
      from: request.from,
      to: request.to,
      cc: request.cc,
      bcc: request.bcc,
      replyTo: request.replyTo,
      headers: request.headers,
      tags: request.tags,
      attachments: request.attachments.map(({ filename, contentType, contentId, size }) => ({
        filename,
        contentType,
        contentId,
        size,
      })),
      trackOpens: request.trackOpens,
      trackClicks: request.trackClicks,
      language: request.language ?? undefined,
      contactId: recipient?.contactId,
      audienceId: recipient?.audienceId,
      threadId,
      submitted,
      untouched: untouchedOf(request),
      isRaw: request.raw ? true : undefined,
      forwardedFrom: request.raw?.forward?.sender,
      forwardedKeys: request.raw?.forward?.keys,
      messageId: request.raw?.messageId ?? request.messageId?.id ?? messageIdOf(id, request.from.domain),
      size: request.size + (rendered ? rendered.html.length + rendered.text.length : 0),
    },
    content: {
      text: request.text ?? rendered?.text ?? null,
      html: request.html ?? rendered?.html ?? null,
      markdown: request.markdown,
      attachments: request.attachments.map(({ content }) => content),
      ...(request.calendar && { calendar: request.calendar }),
      ...(template && { template }),
      ...(request.raw && { raw: request.raw.content }),
    },
  };
}

/** Of what was asked for, in what may not be changed. */
function untouchedOf({ raw, trackOpens, trackClicks, html }: SendRequest): HtmlLock | undefined {
  if (!raw || typeof raw.content.index.html !== 'string') return undefined;
  const isAsked = trackOpens || trackClicks || (html !== null && offersExit(html));
  return isAsked ? raw.content.index.html : undefined;
}
