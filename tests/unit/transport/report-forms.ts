/**
 * Reports in the forms of servers and services that do not run here, written for these tests after their documentation and public bug
 * reports. `bob@receiver.example` is the recipient.
 */

const mail = (headers: string, body: string): string =>
  `From: MAILER-DAEMON@mx.example.com\nTo: b+token@bounces.sender.example\n${headers}\n\n${body}`;

const text = (subject: string, body: string, more = ''): string =>
  mail(`Subject: ${subject}${more}\nContent-Type: text/plain; charset=utf-8`, body);

const RETURNED = 'From: shop@sender.example\nTo: bob@receiver.example\nSubject: Your receipt\n\nThank you.';

const report = (words: string, status: string, subject = 'Delivery Status Notification (Failure)'): string =>
  mail(
    `Subject: ${subject}\nDate: Fri, 27 Nov 2026 04:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=B`,
    `--B\nContent-Type: text/plain; charset=utf-8\n\n${words}\n\n--B\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.com\n\n${status}\n\n--B\nContent-Type: message/rfc822\n\n${RETURNED}\n--B--`,
  );

const failed = (status: string, diagnostic: string, more = ''): string =>
  `Final-Recipient: rfc822; bob@receiver.example\nAction: failed\nStatus: ${status}\nDiagnostic-Code: ${diagnostic}${more}`;

const delayed = (status: string, more = ''): string =>
  `Final-Recipient: rfc822; bob@receiver.example\nAction: delayed\nStatus: ${status}${more}`;

const qmail = (words: string, name = 'qmail-send program at mx.example.com'): string =>
  text(
    'failure notice',
    `Hi. This is the ${name}.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n${words}\n\n--- Below this line is a copy of the message.\n\nReturn-Path: <b+token@bounces.sender.example>\n${RETURNED}`,
  );

const exim = (words: string, more = '\nX-Failed-Recipients: bob@receiver.example'): string =>
  text(
    'Mail delivery failed: returning message to sender',
    `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n${words}\n\n------ This is a copy of the message, including all the headers. ------\n\n${RETURNED}`,
    more,
  );

const DEAD = 'Permanent NoEmail suppressed';
const NO_DOMAIN = 'Permanent DomainNotFound suppressed';
const FULL = 'Permanent MailboxFull';
const POLICY = 'Permanent PolicyRejected';
const GENERAL = 'Permanent General';
const TIME_OVER = 'Transient expired';

/** Each form with what it has to come to. */
export const FORMS: Readonly<Record<string, readonly [raw: string, verdict: string]>> = {
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
  'Exchange Online: a user who does not exist': [
    report(
      'Your message to bob@receiver.example could not be delivered.\n\nbob was not found at receiver.example.',
      'Final-Recipient: rfc822;bob@receiver.example\nAction: failed\nStatus: 5.1.10\nDiagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    ),
    DEAD,
  ],
  'Exchange Online: access denied proves nothing': [
    report(
      'Delivery has failed.',
      failed('5.4.1', 'smtp;550 5.4.1 Recipient address rejected: Access denied. [DB5EUR.prod.example]'),
    ),
    POLICY,
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
  'IronPort: in a field of its own': [
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
};
