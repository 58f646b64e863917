import { bounceOf } from './diagnosis.ts';
import type { Feedback, Reference } from './feedback.ts';
import { diagnosticIn, linesOfReport, sectionsOf } from './report-text.ts';

/** The servers and products that write failures in a fixed form without a message/delivery-status part. */
type PlainForm =
  | 'qmail'
  | 'yahoo'
  | 'exim'
  | 'dma'
  | 'exchange'
  | 'google'
  | 'postfix'
  | 'sendmail'
  | 'smarterMail'
  | 'domino'
  | 'mimecast'
  | 'openSmtpd'
  | 'ses'
  | 'postal';

/** The words that each form begins with. None of them occurs in a warning that the server still tries. */
const MARKS: Readonly<Record<PlainForm, RegExp>> = {
  // The QSBMF of qmail begins with "Hi. This is the"; Haraka and James write it, too.
  qmail: /^Hi\. This is the \S.{0,300}\n.{0,100}\b(?:wasn't|was not) able to deliver/m,
  yahoo:
    /^(?:Sorry, we were unable to deliver your message to|Unable to deliver message to) the following address/m,
  exim: /^A message (?:that )?you sent could not be delivered to (?:all|one or more) of\s{1,4}its\s{1,4}recipients|^A message that you have sent could not be delivered/m,
  dma: /^This is the DragonFly Mail Agent\b.{0,300}\n\s{0,4}There was an error delivering your mail/m,
  // hMailServer writes the words of Exchange.
  exchange:
    /^(?:Your message did not reach some or all of the intended recipients|did not reach the following recipient\(s\)|Delivery has failed to these recipients or groups)/m,
  google: /^Delivery to the following recipients? failed permanently/m,
  postfix:
    /^This is the mail system at host .{0,300}\n\s{0,4}I'm sorry to have to inform you that your message could not/m,
  sendmail: /^ {0,8}-{3,} The following addresses had (?:permanent fatal|delivery) errors/m,
  smarterMail: /^Could not deliver message to the following recipient/m,
  domino: /^(?:-{3,} ?Failure Reasons {1,4}-{3,}|was not delivered to:)/m,
  mimecast: /^An email that you attempted to send to the following address could not be delivered/m,
  openSmtpd:
    /^ {0,8}This is the MAILER-DAEMON, .{0,100}\s{1,20}An error has occurred while attempting to deliver a message/m,
  ses: /^An error occurred while trying to deliver the mail to the following recipients/m,
  postal: /^The message you sent cannot be delivered/m,
};

/** Warnings of the same servers, which continue trying. */
const STILL_TRIED =
  /^A message (?:that )?you sent has not (?:yet )?been delivered|^Delivery to the following recipients? has been delayed|^\*\* This is a warning message only|\bTHIS IS A WARNING MESSAGE ONLY\b|^ {0,8}A message is delayed for more than/m;

const DELAYED = { kind: 'delayed', message: 'Delayed', remoteMta: null } as const;

/** The most characters in which a form has to begin. */
const HEAD = 8_000;

/**
 * Reads a failure from a notification in plain text; nothing when it has none of the fixed forms. `names` says that the message has an
 * X-Failed-Recipients field, which Exim and Gmail write for failures alone.
 */
export const readPlainReport = (text: string, names: boolean, reference: Reference): Feedback[] => {
  const head = text.slice(0, HEAD).replace(/\r\n/g, '\n');
  const begin = Object.values(MARKS)
    .map((mark) => head.search(mark))
    .filter((index) => index !== -1);
  if (begin.length === 0 && !names)
    return STILL_TRIED.test(head) ? [{ ...DELAYED, reference, recipient: null }] : [];
  const report = head.slice(begin.length === 0 ? 0 : Math.min(...begin));
  const sections = sectionsOf(report).filter(({ diagnostic }) => diagnostic !== '');
  if (sections.length === 0) {
    const diagnostic = diagnosticIn(linesOfReport(report).slice(1).join('\n'));
    return [{ ...bounceOf({ status: null, diagnostic, remoteMta: null }), reference, recipient: null }];
  }
  return sections.map(({ address, generatedFrom, diagnostic }) => ({
    ...bounceOf({ status: null, diagnostic, remoteMta: null, failing: address }),
    reference,
    recipient: generatedFrom ?? address,
  }));
};
