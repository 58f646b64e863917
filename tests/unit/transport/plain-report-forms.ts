/** Reports in plain text alone, in the forms of servers that do not run here. */
import { DEAD, exim, FULL, GENERAL, NO_DOMAIN, qmail, TIME_OVER, text } from './report-shapes.ts';

/** Each form with what it has to come to. */
export const PLAIN_FORMS: Readonly<Record<string, readonly [raw: string, verdict: string]>> = {
  'qmail: no mailbox here': [
    qmail('<bob@receiver.example>:\nSorry, no mailbox here by that name. (#5.1.1)'),
    DEAD,
  ],
  'qmail: the remote host knows no such user': [
    qmail(
      '<bob@receiver.example>:\n192.0.2.7 does not like recipient.\nRemote host said: 550 5.1.1 User unknown\nGiving up on 192.0.2.7.',
    ),
    DEAD,
  ],
  'qmail: over quota': [
    qmail('<bob@receiver.example>:\nUser is over the quota. You can try again later. (#5.2.2)'),
    FULL,
  ],
  'qmail: no such host': [
    qmail("<bob@receiver.example>:\nSorry, I couldn't find any host named receiver.example. (#5.1.2)"),
    NO_DOMAIN,
  ],
  'qmail: too long in the queue': [
    qmail(
      "<bob@receiver.example>:\nSorry, I wasn't able to establish an SMTP connection. (#4.4.1)\nI'm not going to try again; this message has been in the queue too long.",
    ),
    TIME_OVER,
  ],
  'qmail: an alias whose target is gone': [
    qmail('<somebody-else@elsewhere.example>:\nSorry, no mailbox here by that name. (#5.1.1)'),
    'Permanent NoEmail',
  ],
  'Haraka: with a reply': [
    qmail(
      'Intended Recipients: <bob@receiver.example>\nFailure Reason: Error: 550 5.1.1 User unknown',
      'Haraka Mailer program at mx.example.com',
    ),
    DEAD,
  ],
  'Haraka: without a reply': [
    qmail(
      'Intended Recipients: <bob@receiver.example>\nFailure Reason: Error: Some recipients failed: <bob@receiver.example>',
      'Haraka Mailer program at mx.example.com',
    ),
    GENERAL,
  ],
  'James: with a reply': [
    text(
      'Re:Your receipt',
      "Hi. This is the James mail server at mx.example.com.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.  Below\nI include the list of recipients and the reason why I was unable to deliver\nyour message.\n\nFailed recipient(s):\nbob@receiver.example\n\nError message:\n552 5.2.2 Over quota\n",
    ),
    FULL,
  ],
  'Exim 4 without a report part': [
    exim(
      '  bob@receiver.example\n    SMTP error from remote mail server after RCPT TO:<bob@receiver.example>:\n    host mx.receiver.example [192.0.2.7]: 550 5.1.1 <bob@receiver.example>: unknown',
    ),
    DEAD,
  ],
  'Exim: the relay found no route': [exim('  bob@receiver.example\n    Unrouteable address'), NO_DOMAIN],
  'Exim: mailbox full until the retry time was over': [
    exim('  bob@receiver.example\n    mailbox is full: retry timeout exceeded'),
    TIME_OVER,
  ],
  'Exim: a target of an alias': [
    exim(
      '  gone@elsewhere.example\n    (generated from bob@receiver.example)\n    host mx.elsewhere.example [192.0.2.7]\n    SMTP error from remote mail server after RCPT TO:<gone@elsewhere.example>:\n    550 5.1.1 User unknown',
      '\nX-Failed-Recipients: gone@elsewhere.example',
    ),
    'Permanent NoEmail',
  ],
  'Exim: it is delayed': [
    text(
      'Warning: message 1xWqMm-00 delayed 24 hours',
      'This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue on mx.example.com.\n\nThe address to which the message has not yet been delivered is:\n\n  bob@receiver.example\n    Delay reason: 450 4.1.1 unknown for now\n\nNo action is required on your part.',
    ),
    'delayed',
  ],
  'dma: not found': [
    text(
      'Mail delivery failed',
      'This is the DragonFly Mail Agent v0.13 at mx.example.com.\n\nThere was an error delivering your mail to <bob@receiver.example>.\n\nDNS lookup failure: host receiver.example not found\n\nMessage headers follow.\n\nSubject: Your receipt',
    ),
    NO_DOMAIN,
  ],
  hMailServer: [
    text(
      'Message undeliverable: Your receipt',
      'Your message did not reach some or all of the intended recipients.\n\n   Sent: Fri, 27 Nov 2026 04:00:00 +0000\n   Subject: Your receipt\n\nThe following recipient(s) could not be reached:\n\nbob@receiver.example\n   Error Type: SMTP\n   Remote server (192.0.2.7) issued an error.\n   hMailServer sent: RCPT TO:<bob@receiver.example>\n   Remote server replied: 550 5.5.0 Requested action not taken: mailbox unavailable',
    ),
    DEAD,
  ],
  SmarterMail: [
    text(
      'Delivery Failure',
      'Could not deliver message to the following recipient(s):\n\nFailed Recipient: bob@receiver.example\nReason: Remote host said: 552 5.2.2 The mailbox is over its quota\n\n   -- The header and top 20 lines of the message follows --\n\nSubject: Your receipt',
    ),
    FULL,
  ],
};
