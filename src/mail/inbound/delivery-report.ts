import { kindOfWords } from '../transport/smtp/reply-words.ts';
import { bounceOf } from './diagnosis.ts';
import type { BounceReport, Fact, Feedback, Reference } from './feedback.ts';
import { addressValue, type Fields, readFields, typedValue } from './fields.ts';
import { diagnosticIn, type Section, sectionsOf } from './report-text.ts';

/** The parts of a notification besides its message/delivery-status part. */
export interface Surroundings {
  /** The human-readable part. */
  readonly text: string;
  readonly subject: string;
  /** Epoch ms of the Date field; null when it cannot be read. */
  readonly date: number | null;
}

/**
 * Reads the feedback about each recipient from the message/delivery-status part of a notification (RFC 3464).
 */
export const readDeliveryReport = (
  status: string,
  reference: Reference,
  around: Surroundings = { text: '', subject: '', date: null },
): Feedback[] => {
  const [first, ...rest] = readFields(status);
  // The first block is about the message. Some servers leave it out, and begin with a recipient; Dovecot has
  // no empty line behind it.
  const isRecipient = first?.has('action') || first?.has('final-recipient');
  const recipients = (first && isRecipient ? [first, ...rest] : rest).slice(0, MOST_BLOCKS);
  const reporter = typedValue(first, 'reporting-mta');
  const report: Report = {
    reporter,
    around,
    sections: sectionsOf(around.text),
    hasFailure: recipients.some((fields) => actionOf(fields) === 'failed'),
  };
  return recipients.flatMap((fields) => {
    const fact = factOf(fields, report);
    return fact === null ? [] : [{ ...fact, reference, recipient: recipientOf(fields) }];
  });
};

/**
 * Reads the refusal by a filter of the recipient from its disposition notification, which says that the mail
 * was deleted. The words are those of the person, so that no code in them counts.
 */
export const readRejection = (notification: string, reference: Reference, text: string): Feedback => ({
  kind: 'bounced',
  permanent: true,
  isFinal: true,
  fault: 'infrastructure',
  subType: 'PolicyRejected',
  smtpCode: null,
  enhancedCode: null,
  message: text.slice(0, LONGEST_WORDS).replace(/\s+/g, ' ').trim() || 'No reason was given',
  remoteMta: null,
  suppresses: false,
  failing: null,
  reference,
  recipient: recipientOf(readFields(notification)[0] ?? new Map()),
});

/** The most characters of a person's words. */
const LONGEST_WORDS = 1_000;

/**
 * The most blocks that are read, which is the most recipients of an email: each takes up to 2 ms (measured).
 */
const MOST_BLOCKS = 50;

interface Report {
  readonly reporter: string | null;
  readonly around: Surroundings;
  readonly sections: readonly Section[];
  /** True when a block of the report says `failed`. */
  readonly hasFailure: boolean;
}

const factOf = (fields: Fields, report: Report): Fact | null => {
  const remoteMta = typedValue(fields, 'remote-mta') ?? report.reporter;
  const action = actionOf(fields);
  if (action === 'relayed' || action === 'expanded') return { kind: 'passedOn' };
  if (action === 'delivered') {
    const response =
      ACCEPTED.exec(wordsOf(fields) ?? '')?.[0] ?? wordsOf(fields) ?? statusOf(fields) ?? 'Delivered';
    return { kind: 'delivered', response, remoteMta };
  }
  if (action !== 'failed' && action !== 'delayed' && action !== 'expired') return null;
  const bounce = failureOf(fields, report, remoteMta);
  // SendGrid has a word for a message that it could not deliver in time.
  if (action === 'expired') return { ...bounce, permanent: false, suppresses: false };
  if (action === 'failed' || hasGivenUp(fields, bounce, report)) return bounce;
  return { kind: 'delayed', message: bounce.message, remoteMta };
};

// A block without the field that RFC 3464 2.3.3 demands has failed where its status is permanent.
const actionOf = (fields: Fields): string | undefined =>
  fields.get('action')?.toLowerCase().split(/[\s(]/)[0] ??
  (statusOf(fields)?.startsWith('5.') ? 'failed' : undefined);

const statusOf = (fields: Fields): string | null =>
  /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(fields.get('status') ?? '')?.[1] ?? null;

/**
 * The reply that a block quotes from its code on, or its words: "smtp; 550 5.1.1 …", "X-Postfix; host
 * mx.example said: 550 5.1.1 …".
 */
const replyIn = (fields: Fields): string | null => {
  const words = wordsOf(fields);
  return words === null ? null : diagnosticIn(words) || null;
};

const wordsOf = (fields: Fields): string | null => {
  // IronPort has a special field.
  const words = typedValue(fields, 'diagnostic-code') ?? typedValue(fields, 'x-supplementary-info');
  // "X-Unix; 67" is the exit code of a program.
  return words !== null && /[a-z]{2}/i.test(words) ? words : null;
};

const ACCEPTED = /\b2\d\d[ -].*/;

// X.0.0 says only that it failed, and so does a block without a status: then the text has the reply (RFC 3463
// 3.1).
const failureOf = (fields: Fields, { sections }: Report, remoteMta: string | null): BounceReport => {
  const status = statusOf(fields);
  const final = addressValue(fields, 'final-recipient')?.toLowerCase() ?? null;
  const quoted = replyIn(fields);
  const isVague = status === null || status.endsWith('.0.0');
  const section = sectionOf(sections, final, quoted);
  const failing = section?.generatedFrom ? section.address : actualRecipientOf(fields);
  const isWordless = quoted === null || (isVague && !/^[45]\d\d/.test(quoted) && !kindOfWords(quoted));
  const ofText = isWordless ? section?.diagnostic : undefined;
  const bounce = bounceOf({
    status,
    diagnostic: ofText || quoted || '',
    remoteMta,
    failing,
    step: section?.step ?? 'RCPT',
  });
  // A target of an alias says nothing about the alias.
  return section?.generatedFrom ? { ...bounce, suppresses: false } : bounce;
};

/** The section of an address: its own, that of a target of it, or the only one. */
const sectionOf = (
  sections: readonly Section[],
  final: string | null,
  quoted: string | null,
): Section | undefined => {
  const own = sections.filter(({ address, generatedFrom }) => address === final || generatedFrom === final);
  return (
    own.find(({ diagnostic }) => diagnostic === quoted) ??
    own[0] ??
    (sections.length === 1 ? sections[0] : undefined)
  );
};

// Sendmail names the target of an alias beside the alias.
const actualRecipientOf = (fields: Fields): string | null =>
  addressValue(fields, 'x-actual-recipient') ?? addressValue(fields, 'final-recipient');

/**
 * True when a block that says `delayed` is about the end all the same. RFC 3464 2.3.3: the server tries on,
 * so a delay leaves the email `sent`. nullmailer and OpenSMTPD write it in their last report as well, and
 * only words that say so count as the end. A server that names a time until which it tries on has not given
 * up before. The status 4.4.7 proves nothing: Exchange and Oracle's server send it with real delays; nor does
 * a subject that says "undelivered" alone.
 */
const hasGivenUp = (fields: Fields, { message }: BounceReport, report: Report): boolean => {
  const { date, subject } = report.around;
  const until = Date.parse(fields.get('will-retry-until') ?? '');
  if (!Number.isNaN(until)) return until <= (date ?? Number.NEGATIVE_INFINITY);
  if (statusOf(fields)?.startsWith('5.') || ENDED.test(message)) return true;
  return !report.hasFailure && RETURNED.test(subject);
};

const ENDED = /^(?:envelope|message|delivery time) expired\b|\b(?:gave|given|giving) up\b/i;
/**
 * The subject of a report whose message is given back, which nullmailer writes; a warning has another one.
 */
const RETURNED = /^(?:returned mail|undeliver(?:ed|able) mail returned)\b/i;

// The original recipient is the address that we sent to; the final one may be the target of a forward.
const recipientOf = (fields: Fields): string | null => {
  const original = addressValue(fields, 'original-recipient');
  return original === null ? addressValue(fields, 'final-recipient') : decodeXtext(original);
};

// RFC 3461 4: ORCPT comes in xtext, where `+2B` is a plus sign.
const decodeXtext = (text: string): string =>
  text.replace(/\+([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
