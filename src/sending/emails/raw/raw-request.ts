import type { Arrival, NamedMailbox, RawContent, RawMail } from '../../../mail/raw/raw-mail.ts';
import { MOST_SUBMITTED } from '../../../mail/submission/envelope.ts';
import type { Failure } from '../../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import { asciiHost } from '../../../platform/text/host.ts';
import { Problems, type Report } from '../../../platform/text/problems.ts';
import { NOBODY, NOT_SIMULATED, tooMany } from '../accept/recipients.ts';
import { type RequestContext, readSchedule, type SendRequest } from '../accept/request.ts';
import type { SendBody } from '../accept/request-model.ts';
import { simulatedOutcome } from '../simulator/simulated-addresses.ts';

/** A message that is to stay what it is. */
export interface RawRequest {
  readonly mail: RawMail;
  /** The recipients; null for all addresses in its To, Cc and Bcc fields. */
  readonly recipients: readonly string[] | null;
  readonly came: Arrival;
}

/** The options of a request, beside the message. */
type Wishes = Pick<SendBody, 'scheduledAt' | 'trackOpens' | 'trackClicks' | 'tags'>;

const NO_RECIPIENT = 'Must name a recipient, or the message must have one in To, Cc or Bcc.';
const BAD_SENDER = 'Must have a From field whose addresses are like user@example.com.';
const FROM = '/body/from';
const RECIPIENTS = '/query/recipients';

/**
 * A message as a request. Of its content nothing is refused: who sends it and who gets it is checked alone.
 */
export function readRawRequest(
  { mail, recipients, came }: RawRequest,
  wishes: Wishes,
  { now, simulatorDomain }: Pick<RequestContext, 'now' | 'simulatorDomain'>,
): SendRequest | Failure {
  const problems = new Problems();
  const { report } = problems;
  const senders = mail.from.map(senderOf);
  if (senders.includes(NOBODY)) report(FROM, BAD_SENDER);
  const { controls } = mail;
  const parts = {
    from: senders[0] ?? NOBODY,
    ...readersOf(mail, recipients, simulatorDomain, report),
    replyTo: mail.replyTo.map(shownAddress),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    markdown: null,
    template: null,
    headers: [],
    attachments: [],
    tags: wishes.tags ?? controls.tags.flatMap(tagOf).slice(0, MOST_TAGS),
    scheduledAt: readSchedule(wishes.scheduledAt, now, '/query/scheduledAt', report),
    trackOpens: wishes.trackOpens ?? controls.trackOpens,
    trackClicks: wishes.trackClicks ?? controls.trackClicks,
    calendar: null,
    messageId: null,
    language: null,
    raw: { content: contentOf(mail, came), messageId: mail.messageId, senders },
    size: mail.octets.length + FRAME,
  };
  return problems.failure() ?? parts;
}

/** Octets of a mailbox (RFC 5321 4.5.3.1), and room for letters beyond ASCII. */
const LONGEST_MAILBOX = 1_024;
/** Fields that are added on the way. */
const FRAME = 4_096;
const MOST_TAGS = 10;

const contentOf = ({ octets, index }: RawMail, came: Arrival): RawContent => ({
  octets: Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength),
  index: { ...index, came },
});

/**
 * RFC 5322 3.4.1: a dot-atom or a quoted string, and one domain. Any other is read in another way by some
 * mail program.
 */
const MAILBOX =
  /^(?:[^\s"(),.:;<>@[\\\]\p{Cc}]+(?:\.[^\s"(),.:;<>@[\\\]\p{Cc}]+)*|"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*")@([^\s"(),:;<>@[\\\]\p{Cc}]+)$/u;

/**
 * A sender. Its local part may be whatever its domain allows: it stays in the message, and goes nowhere else.
 */
function senderOf({ name, address }: NamedMailbox): Address {
  const read = parseAddress(address);
  if (!isProblem(read)) return { ...read, name };
  const domain = asciiHost((address.length <= LONGEST_MAILBOX && MAILBOX.exec(address)?.[1]) || '');
  if (domain === null) return NOBODY;
  return { name, address, key: address.toLowerCase(), domain, utf8Local: false };
}

/** An address that is shown, whatever it is. */
const shownAddress = ({ name, address }: NamedMailbox): Address => ({ ...NOBODY, name, address });

/** The recipients, each once and by the field that shows them. All others get a blind copy. */
function readersOf(
  mail: RawMail,
  recipients: readonly string[] | null,
  simulatorDomain: string,
  report: Report,
): Pick<SendRequest, 'to' | 'cc' | 'bcc'> {
  const left = new Map<string, Address>();
  const given = recipients ?? [...mail.to, ...mail.cc, ...mail.bcc].map(({ address }) => address);
  for (const [index, text] of given.entries()) {
    const read = parseAddress(text);
    const path = recipients === null ? RECIPIENTS : `${RECIPIENTS}/${index}`;
    if (isProblem(read)) report(path, read.problem);
    else if (simulatedOutcome(read, simulatorDomain) === null) report(path, NOT_SIMULATED);
    else left.set(read.key, read);
  }
  if (given.length === 0) report(RECIPIENTS, NO_RECIPIENT);
  if (left.size > MOST_SUBMITTED) report(RECIPIENTS, tooMany(MOST_SUBMITTED));
  const shownBy = (field: readonly NamedMailbox[]): readonly Address[] =>
    field.flatMap(({ name, address }) => {
      const read = parseAddress(address);
      const reader = isProblem(read) ? undefined : left.get(read.key);
      if (!reader) return [];
      left.delete(reader.key);
      return [{ ...reader, name }];
    });
  const to = shownBy(mail.to);
  const cc = shownBy(mail.cc);
  return { to, cc, bcc: [...left.values()] };
}

const TAG = /^([\w-]{1,256}):([\w-]{1,256})$/;

/** A tag as a field or a query writes it; one that is none is left out. */
function tagOf(text: string): SendRequest['tags'] {
  const [, name, value] = TAG.exec(text.trim()) ?? [];
  return name === undefined || value === undefined ? [] : [{ name, value }];
}
