import type { Surroundings } from './delivery-report.ts';
import { bounceOf } from './diagnosis.ts';
import type { Feedback, Reference } from './feedback.ts';
import { ADDRESS_IN_TEXT, diagnosticIn, linesOfReport, sectionsOf, stepIn } from './report-text.ts';

/** The words that each form begins with. None of them occurs in a warning that the server still tries. */
const MARKS = {
  // The QSBMF of qmail begins with "Hi. This is the"; Haraka and James write it, too. Providers change its
  // words.
  qmail:
    /^Hi\. This is the \S.{0,300}\n.{0,100}\b(?:wasn't|was not) able to deliver|^Your mail message to the following address\(es\) could not be delivered\. This\s{1,2}is a permanent error/m,
  yahoo:
    /^(?:Sorry, we were unable to deliver your message to|Unable to deliver message to) the following address/m,
  exim: /^A message (?:that )?you sent could not be delivered to (?:all|one or more) of\s{1,4}its\s{1,4}recipients|^A message that you have sent could not be delivered|^could not be delivered to one or more of its recipients\. The following\n/m,
  dma: /^This is the DragonFly Mail Agent\b.{0,300}\n\s{0,4}There was an error delivering your mail/m,
  // hMailServer writes the words of Exchange.
  exchange:
    /^(?:Your message did not reach some or all of the intended recipients|did not reach the following recipient\(s\)|Did not reach the following recipients?:|Delivery has failed to these recipients or groups)/m,
  google: /^Delivery to the following recipients? failed permanently/m,
  // Providers leave the first line out. Older versions call themselves the Postfix program.
  postfix:
    /^(?:This is the (?:mail system|Postfix program) at host .{0,300}\n\s{0,4})?I'm sorry to have to inform you that (?:your message could not|the message returned\s{1,2}below could not)/m,
  // InterScan and others write the words of Sendmail.
  sendmail:
    /^ {0,8}-{3,} ?The following addresses had (?:permanent fatal|permanent delivery|delivery) (?:errors|problems)/m,
  smarterMail: /^Could not deliver message to the following recipient/m,
  domino: /^(?:-{3,} ?Failure Reasons {1,4}-{3,}|was not delivered to:)/m,
  mimecast: /^An email that you attempted to send to the following address could not be delivered/m,
  openSmtpd:
    /^ {0,8}This is the MAILER-DAEMON, .{0,100}\s{1,20}An error has occurred while attempting to deliver a message/m,
  ses: /^An error occurred while trying to deliver the mail to the following recipients/m,
  postal: /^The message you sent cannot be delivered/m,
} as const;

/** Further forms: of one recipient each, with the reason before or behind the address. */
const MARKS_OF_ONE = {
  // Verizon's gateways to telephones.
  verizon: /^Error message below:\s{1,4}[45]\d\d\b|^Message could not be delivered to mobile\./m,
  imail:
    /^(?:Unknown user|User mailbox exceeds allowed size|Invalid final delivery userid): \S{1,64}@\S{1,255}\s{1,12}Original message follows\.|^undeliverable to \S{1,64}@\S{1,255}\s{1,8}(?:Body of message|.{0,80}) generated response:/im,
  mailFoundry: /^Unable to deliver message to: <\S{1,320}>\s{1,4}Delivery failed for the following reason:/m,
  interScan:
    /^(?:Reason: {1,4})?Unable to deliver message to <\S{1,320}> \(and other recipients|^Sent <<< RCPT TO:<\S{1,320}>\s{1,4}Received >>> [45]\d\d/m,
  mailMarshal: /^Could not be delivered because of\s{1,8}[45]\d\d/m,
  // KDDI writes to and for the telephones of au.
  kddi: /^\s{0,8}Could not be delivered to: <\S{1,320}>\s{1,12}As their mailbox is full|^Each of the following recipients was rejected by a remote\s{1,2}mail server|^The user\(s\) account is (?:disabled|temporarily limited)|^Your message was not delivered within \d{1,4} days/m,
  mFilter: /^-{4,12}server message\n[45]\d\d\b/m,
  // Servers whose names their mail does not say.
  fullDetails: /^We had trouble delivering your message\. Full details follow:/m,
  fullMailbox: /^User's mailbox is full: <\S{1,320}>\s{1,4}Unable to deliver mail/m,
  failedAddress: /^Your delivery to the following address has been failed/m,
} as const;

/** Warnings of the same servers, which continue trying. */
const STILL_TRIED =
  /^A message (?:that )?you sent has not (?:yet )?been delivered|^Delivery to the following recipients? has been delayed|^\*\* This is a warning message only|\bTHIS IS A WARNING (?:MESSAGE )?ONLY\b|^ {0,8}A message is delayed for more than/m;

/** Servers with the words of Sendmail say in the subject alone that they still try. */
const WARNING = /^warning\b/i;

const DELAYED = { kind: 'delayed', message: 'Delayed', remoteMta: null } as const;

/** The most characters in which a form has to begin. */
const HEAD = 8_000;

/**
 * Reads a failure from a notification in plain text; nothing when it has none of the fixed forms. `failed` is
 * the value of an X-Failed-Recipients field, which Exim and Gmail write for failures alone; null without it.
 */
export const readPlainReport = (
  { text, subject }: Pick<Surroundings, 'text' | 'subject'>,
  failed: string | null,
  reference: Reference,
): Feedback[] => {
  const head = text.slice(0, HEAD).replace(/\r\n/g, '\n');
  const several = beginOf(head, MARKS);
  const one = several === null ? beginOf(head, MARKS_OF_ONE) : null;
  if (several === null && one === null && failed === null)
    return STILL_TRIED.test(head) ? [{ ...DELAYED, reference, recipient: null }] : [];
  if (WARNING.test(subject) && MARKS.sendmail.test(head)) return [{ ...DELAYED, reference, recipient: null }];
  const lines = one === null ? linesOfReport(head.slice(several ?? 0)) : linesOfOne(head.slice(one));
  const sections = one === null ? sectionsOf(lines.join('\n')) : [];
  const told = sections.filter(({ diagnostic }) => diagnostic !== '');
  if (told.length > 0)
    return told.map(({ address, generatedFrom, ...said }) => ({
      ...bounceOf({ status: null, remoteMta: null, failing: address, ...said }),
      reference,
      recipient: generatedFrom ?? address,
    }));
  // The first line of the forms for several recipients says nothing about the reason.
  const diagnostic = diagnosticIn(lines.slice(one === null ? 1 : 0).join('\n'));
  // m-FILTER names the address before its mark. Elsewhere, an address there may be that of anybody.
  const before = MARKS_OF_ONE.mFilter.test(head) ? failingIn(head) : null;
  const failing = failingIn(failed ?? '') ?? failingIn(lines.join('\n')) ?? before;
  const diagnosis = { status: null, diagnostic, remoteMta: null, failing, step: stepIn(lines) };
  const bounce = bounceOf(diagnosis);
  // It may be about a target of the recipient, and says nothing about the recipient then.
  return [{ ...bounce, suppresses: bounce.suppresses && failing !== null, reference, recipient: null }];
};

/** The lines of a form of one recipient. The returned message may begin without a line before it. */
const linesOfOne = (text: string): string[] => {
  const lines = linesOfReport(text);
  const end = lines.findIndex((line) => RETURNED_HEADER.test(line));
  return end === -1 ? lines : lines.slice(0, end);
};

const RETURNED_HEADER = /^(?:received: (?:from|by) |return-path: {0,4}<)/i;

/** The address that a form is about: that of the RCPT command, or the first one. */
const failingIn = (text: string): string | null =>
  (AT_RCPT.exec(text)?.[1] ?? ADDRESS.exec(text)?.[0] ?? null)?.toLowerCase() ?? null;

const ADDRESS = new RegExp(ADDRESS_IN_TEXT, 'i');
const AT_RCPT = new RegExp(String.raw`\brcpt to: {0,4}<?(${ADDRESS_IN_TEXT})`, 'i');

/** The place at which the first of the forms begins; null where there is none. */
const beginOf = (head: string, marks: Readonly<Record<string, RegExp>>): number | null => {
  const places = Object.values(marks)
    .map((mark) => head.search(mark))
    .filter((place) => place !== -1);
  return places.length === 0 ? null : Math.min(...places);
};
