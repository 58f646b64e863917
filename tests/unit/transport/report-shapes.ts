/** The shapes of reports that do not run here, which the table of forms fills in. */

/** A mail to the return path. */
export const mail = (headers: string, body: string): string =>
  `From: MAILER-DAEMON@mx.example.com\nTo: b+token@bounces.sender.example\n${headers}\n\n${body}`;

/** A notification in plain text. */
export const text = (subject: string, body: string, more = ''): string =>
  mail(`Subject: ${subject}${more}\nContent-Type: text/plain; charset=utf-8`, body);

const RETURNED = 'From: shop@sender.example\nTo: bob@receiver.example\nSubject: Your receipt\n\nThank you.';

/** A report with these parts (RFC 3464). */
export const report = (
  words: string,
  status: string,
  subject = 'Delivery Status Notification (Failure)',
): string =>
  mail(
    `Subject: ${subject}\nDate: Fri, 27 Nov 2026 04:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=B`,
    `--B\nContent-Type: text/plain; charset=utf-8\n\n${words}\n\n--B\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.com\n\n${status}\n\n--B\nContent-Type: message/rfc822\n\n${RETURNED}\n--B--`,
  );

/** A block about a failure. */
export const failed = (status: string, diagnostic: string, more = ''): string =>
  `Final-Recipient: rfc822; bob@receiver.example\nAction: failed\nStatus: ${status}\nDiagnostic-Code: ${diagnostic}${more}`;

/** A block about a delay. */
export const delayed = (status: string, more = ''): string =>
  `Final-Recipient: rfc822; bob@receiver.example\nAction: delayed\nStatus: ${status}${more}`;

/** The QSBMF of qmail. */
export const qmail = (words: string, name = 'qmail-send program at mx.example.com'): string =>
  text(
    'failure notice',
    `Hi. This is the ${name}.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n${words}\n\n--- Below this line is a copy of the message.\n\nReturn-Path: <b+token@bounces.sender.example>\n${RETURNED}`,
  );

/** A notification of Exim without a part for programs. */
export const exim = (words: string, more = '\nX-Failed-Recipients: bob@receiver.example'): string =>
  text(
    'Mail delivery failed: returning message to sender',
    `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n${words}\n\n------ This is a copy of the message, including all the headers. ------\n\n${RETURNED}`,
    more,
  );

// The verdicts that come often.
export const DEAD = 'Permanent NoEmail suppressed';
export const NO_DOMAIN = 'Permanent DomainNotFound suppressed';
export const FULL = 'Permanent MailboxFull';
export const POLICY = 'Permanent PolicyRejected';
export const GENERAL = 'Permanent General';
export const TIME_OVER = 'Transient expired';
