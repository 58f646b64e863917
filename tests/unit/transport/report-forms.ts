/**
 * Reports in the forms of servers and services that do not run here, written for these tests after their
 * documentation and public bug reports. `bob@receiver.example` is the recipient.
 */

import { PLAIN_FORMS } from './plain-report-forms.ts';
import {
  DEAD,
  delayed,
  FULL,
  failed,
  GENERAL,
  mail,
  NO_DOMAIN,
  POLICY,
  report,
  TIME_OVER,
  text,
} from './report-shapes.ts';
import { STRANGE_FORMS } from './strange-report-forms.ts';

const rejection = (field: string, disposition = 'deleted'): string =>
  mail(
    `Subject: Rejected: Your receipt\n${field}MIME-Version: 1.0\nContent-Type: multipart/report; report-type=disposition-notification; boundary=B`,
    `--B\nContent-Type: text/plain\n\nYour message to <bob@receiver.example> was automatically rejected:\n550 5.1.1 User unknown to my filter.\n\n--B\nContent-Type: message/disposition-notification\n\nReporting-UA: mail.receiver.example; Dovecot Mail Delivery Agent\nFinal-Recipient: rfc822; bob@receiver.example\nDisposition: automatic-action/MDN-sent-automatically; ${disposition}\n\n--B--`,
  );

/** Each form with what it has to come to. */
export const FORMS: Readonly<Record<string, readonly [raw: string, verdict: string]>> = {
  ...PLAIN_FORMS,
  ...STRANGE_FORMS,
  'Exchange Online: a user who does not exist': [
    report(
      'Your message to bob@receiver.example could not be delivered.\n\nbob was not found at receiver.example.',
      'Final-Recipient: rfc822;bob@receiver.example\nAction: failed\nStatus: 5.1.10\nDiagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    ),
    DEAD,
  ],
  'Exchange Online: an address that is not in the directory': [
    report(
      'Delivery has failed.',
      failed('5.4.1', 'smtp;550 5.4.1 Recipient address rejected: Access denied. [DB5EUR.prod.example]'),
    ),
    DEAD,
  ],
  'Exchange Online: the domain does not exist': [
    report(
      'Delivery has failed.',
      failed(
        '5.4.310',
        'smtp;550 5.4.310 DNS domain receiver.example does not exist [Message=InfoDomainNonexistent]',
      ),
    ),
    NO_DOMAIN,
  ],
  'Exchange Online: in text alone': [
    text(
      'Undeliverable: Your receipt',
      "Delivery has failed to these recipients or groups:\n\nbob@receiver.example<mailto:bob@receiver.example>\nThe recipient's mailbox is full and can't accept messages now.\n\nDiagnostic information for administrators:\n\nGenerating server: mx.example.com\n\nbob@receiver.example\nRemote Server returned '554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException'",
    ),
    FULL,
  ],
  'Exchange: a delay with 4.4.7 and a time': [
    report(
      'Delivery to the following recipients has been delayed.\n\n       bob@receiver.example',
      delayed('4.4.7', '\nWill-Retry-Until: Sun, 29 Nov 2026 04:00:00 +0000'),
      'Delivery Status Notification (Delay)',
    ),
    'delayed',
  ],
  ...Object.fromEntries(
    ['4.4.1', '4.0.0', '4.4.7'].map((status) => [
      `a delay with ${status}, no time and the subject "Undelivered"`,
      [report('It has not arrived yet.', delayed(status), 'Undelivered'), 'delayed'],
    ]),
  ),
  'a delay whose mail is returned, as nullmailer writes it, is the end': [
    report('It has not arrived.', delayed('4.4.1'), 'Returned mail: Could not send message'),
    TIME_OVER,
  ],
  'a delay without a time whose reply says that the server gave up is the end': [
    report(
      'It has not arrived.',
      delayed('4.4.1', '\nDiagnostic-Code: smtp; 451 4.4.1 no answer, gave up'),
      'Undelivered',
    ),
    TIME_OVER,
  ],
  'a time that is over is the end': [
    report(
      'Returned.',
      delayed('4.4.1', '\nWill-Retry-Until: Fri, 27 Nov 2026 03:59:59 +0000'),
      'Delivery problem',
    ),
    TIME_OVER,
  ],
  "Oracle's server: a delay with 4.4.7 and no time": [
    report(
      'Your message has been enqueued and undeliverable for 1 day\nto the following recipients:\n\n  Recipient address: bob@receiver.example\n  Reason: unable to deliver this message after 1 day',
      delayed('4.4.7 (unable to deliver this message after 1 day)'),
      'Delivery Notification: Delivery has been delayed',
    ),
    'delayed',
  ],
  'Postfix with soft_bounce: a refusal that is tried again': [
    report(
      'This is the mail system at host mx.example.com.\n\n<bob@receiver.example>: host mx said: 550 5.1.1 User unknown',
      delayed(
        '4.1.1',
        '\nDiagnostic-Code: smtp; 550 5.1.1 User unknown\nWill-Retry-Until: Wed, 2 Dec 2026 04:00:00 +0000',
      ),
      'Delayed Mail (still being retried)',
    ),
    'delayed',
  ],
  'one that is delayed beside one that failed': [
    report(
      '',
      `${delayed('4.0.0')}\n\n${failed('5.2.2', 'smtp; 552 5.2.2 over quota')}`,
      'Returned mail: see transcript for details',
    ),
    FULL,
  ],
  'Gmail: the domain does not exist': [
    report(
      '** Address not found **',
      failed(
        '4.0.0',
        "smtp; DNS Error: 1234 DNS type 'mx' lookup of receiver.example responded with code NXDOMAIN\n Domain name not found: receiver.example",
      ),
    ),
    NO_DOMAIN,
  ],
  'Gmail: null MX': [
    report(
      '** Message blocked **',
      failed(
        '4.0.0',
        "smtp; DNS Error: 1234 DNS type 'mx' lookup of receiver.example responded with code NOERROR\n The domain receiver.example doesn't receive email according to the administrator: returned Null MX",
      ),
    ),
    NO_DOMAIN,
  ],
  'Gmail: in text alone': [
    text(
      'Delivery Status Notification (Failure)',
      'Delivery to the following recipient failed permanently:\n\n     bob@receiver.example\n\nTechnical details of permanent failure:\nThe server of the recipient refused it.\n\nThe error that the other server returned was:\n550 5.1.1 <bob@receiver.example>... User Unknown\n\n----- Original message -----\n\nSubject: Your receipt',
    ),
    DEAD,
  ],
  'Gmail: 5.2.1 for mail that comes too fast': [
    report(
      '',
      failed(
        '5.2.1',
        'smtp; 550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered',
      ),
    ),
    'Permanent RateLimited',
  ],
  'Yahoo: no such account': [
    report(
      '',
      failed(
        '5.0.0',
        "smtp; 554 delivery error: dd This user doesn't have a receiver.example account (bob@receiver.example) [0]",
      ),
    ),
    DEAD,
  ],
  'Yahoo: policy': [
    report('', failed('5.7.9', 'smtp; 554 5.7.9 Message not accepted for policy reasons')),
    POLICY,
  ],
  'AOL: 5.2.1 for what it does not like': [
    report('', failed('5.2.1', 'smtp; 521 5.2.1 : AOL will not accept delivery of this message.')),
    POLICY,
  ],
  'iCloud: over quota': [
    report('', failed('5.2.2', 'smtp; 552 5.2.2 <bob@receiver.example>: user is over quota')),
    FULL,
  ],
  'Zimbra: over quota at the last moment': [
    report(
      '<bob@receiver.example>: host store.receiver.example said: 452 4.2.2 Over quota',
      failed('4.2.2', 'smtp; 452 4.2.2 Over quota'),
    ),
    TIME_OVER,
  ],
  'Domino: in text alone': [
    text(
      'DELIVERY FAILURE: User bob (bob@receiver.example) not listed in Domino Directory',
      'Your message\n\n  Subject: Your receipt\n\nwas not delivered to:\n\n  bob@receiver.example\n\nbecause:\n\n  User bob (bob@receiver.example) not listed in Domino Directory',
    ),
    DEAD,
  ],
  'SES: a mailbox that does not exist': [
    report(
      'An error occurred while trying to deliver the mail to the following recipients:\nbob@receiver.example',
      failed('5.1.1', 'smtp; 550 5.1.1 <bob@receiver.example>: Recipient address rejected'),
    ),
    DEAD,
  ],
  'SES: expired': [
    report(
      '',
      failed(
        '4.4.7',
        'smtp; 554 4.4.7 Message expired: unable to deliver in 840 minutes.<421 4.4.0 Unable to lookup DNS>',
      ),
    ),
    'Permanent ConnectionFailed',
  ],
  'SES: 5.1.0 for a sender that is refused': [
    report('', failed('5.1.0', 'smtp; 550 5.1.0 <0100@sender.example> sender rejected. AUP#In-1310')),
    POLICY,
  ],
  Mimecast: [
    text(
      '[Postmaster] Email Delivery Failure',
      'This is an automated alert notification.\n\nAn email that you attempted to send to the following address could not be delivered:\n-- bob@receiver.example\n\nThe problem appears to be :\n-- Recipient email address is possibly incorrect\n\nAdditional information follows :\n-- 5.4.1 Recipient address rejected: Access denied.',
    ),
    GENERAL,
  ],
  'Barracuda: content': [
    report('', failed('5.7.1', 'smtp; 550 5.7.1 Message content rejected, UBE, id=00-1-2')),
    POLICY,
  ],
  'Proofpoint: blocked, with 4.0.0': [
    report(
      '',
      failed(
        '4.0.0',
        'smtp; 554 Blocked - see https://support.proofpoint.example/dnsbl-lookup.cgi?ip=192.0.2.1',
      ),
    ),
    POLICY,
  ],
  'IronPort: in a separate field': [
    report(
      '',
      'Final-recipient: RFC822; bob@receiver.example\nAction: failed\nStatus: 5.0.0\nX-Supplementary-Info: <mx.receiver.example #5.0.0 smtp; 550 5.2.2 mailbox full>',
    ),
    FULL,
  ],
  'IronPort: 5.1.0 around another reply': [
    report(
      '',
      failed(
        '5.1.0',
        "smtp; 5.1.0 - Unknown address error 550-'5.1.1 <bob@receiver.example>... User unknown' (delivery attempts: 0)",
      ),
    ),
    DEAD,
  ],
  'Postfix: the sender is unknown': [
    report(
      '',
      failed(
        '5.1.0',
        'smtp; 550 5.1.0 <b+token@bounces.sender.example>: Sender address rejected: User unknown in virtual alias table',
      ),
    ),
    POLICY,
  ],
  'Postfix: the domain exists, its mail server does not': [
    report(
      '',
      failed(
        '5.4.4',
        'X-Postfix; Host or domain name not found. Name service error for name=mx.gone.example type=A: Host not found',
      ),
    ),
    'Permanent ConnectionFailed',
  ],
  'a list that is named by its address alone': [
    report('', failed('5.1.3', 'smtp; 553 http://www.spamhaus.org/query/bl?ip=192.0.2.1')),
    POLICY,
  ],
  'a mailbox that is switched off for now': [
    report('', failed('5.2.1', 'smtp; 550 5.2.1 Mailbox temporarily disabled')),
    GENERAL,
  ],
  'an account that is full, with 5.1.1': [report('', failed('5.1.1', 'smtp; 550 5.1.1 Mailbox full')), FULL],
  'Sendmail: its own 5.1.1 for a reply without a status': [
    report('', failed('5.1.1', 'SMTP; 550 go away')),
    GENERAL,
  ],
  'no status, no reply, no words': [
    report('Sorry.', 'Final-Recipient: rfc822; bob@receiver.example\nAction: failed'),
    GENERAL,
  ],
  'no field Action': [
    report(
      '',
      'Final-Recipient: rfc822; bob@receiver.example\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 unknown',
    ),
    DEAD,
  ],
  'an alias: one target has got it, one is dead': [
    report(
      '',
      `Original-Recipient: rfc822;bob@receiver.example\nFinal-Recipient: rfc822;a@elsewhere.example\nAction: relayed\nStatus: 2.0.0\n\nOriginal-Recipient: rfc822;bob@receiver.example\nFinal-Recipient: rfc822;b@elsewhere.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 unknown`,
    ),
    'passedOn',
  ],
  'an alias that Sendmail names beside its target': [
    report(
      '',
      'Final-Recipient: RFC822; bob@receiver.example\nX-Actual-Recipient: RFC822; gone@elsewhere.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: SMTP; 550 5.1.1 unknown',
    ),
    'Permanent NoEmail',
  ],
  'a tag that the server has taken off': [
    report(
      '',
      'Original-Recipient: rfc822;bob@receiver.example\nFinal-Recipient: rfc822;BOB+news@Receiver.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 unknown',
    ),
    DEAD,
  ],
  delivered: [
    report('', 'Final-Recipient: rfc822; bob@receiver.example\nAction: delivered\nStatus: 2.0.0'),
    'delivered',
  ],
  expanded: [
    report('', 'Final-Recipient: rfc822; bob@receiver.example\nAction: expanded\nStatus: 2.0.0'),
    'passedOn',
  ],
  vacation: [
    text(
      'Out of office: Your receipt',
      'I am away until Monday. My former address bob@old.example is no longer valid:\n550 5.1.1 User unknown\n',
      '\nAuto-Submitted: auto-replied',
    ),
    'unread',
  ],
  'a person who quotes a bounce': [
    text('Re: Your receipt', 'I got this:\n\n> <bob@receiver.example>: 550 5.1.1 User unknown\n'),
    'unread',
  ],
  'a disposition notification': [
    mail(
      'Subject: Read: Your receipt\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=disposition-notification; boundary=B',
      '--B\nContent-Type: text/plain\n\nYour message was deleted without being read.\n\n--B\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822; bob@receiver.example\nDisposition: automatic-action/MDN-sent-automatically; deleted\n\n--B--',
    ),
    'nothing',
  ],
  // Dovecot 2.3 (Pigeonhole 0.5) and Cyrus send this where a person's Sieve filter says `reject`.
  'Sieve: a filter of the recipient refuses': [
    rejection('Auto-Submitted: auto-replied (rejected)\n'),
    POLICY,
  ],
  'a notification like that of a filter, of mail that was shown': [
    rejection('Auto-Submitted: auto-replied (rejected)\n', 'displayed'),
    'nothing',
  ],
  'a notification like that of a filter, of a program that only deletes': [
    rejection('Auto-Submitted: auto-replied\n'),
    'nothing',
  ],
};
