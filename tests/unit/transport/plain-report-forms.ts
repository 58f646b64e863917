/** Reports in plain text alone, in the forms of servers that do not run here. */
import { DEAD, exim, FULL, GENERAL, NO_DOMAIN, POLICY, qmail, TIME_OVER, text } from './report-shapes.ts';

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
  'qmail in the words of a provider': [
    text(
      'failure notice',
      "Your mail message to the following address(es) could not be delivered. This\nis a permanent error. Please ask us.\n\n<bob@receiver.example>:\nThe user's mailfolder is full.\n\n--- Below this line is a copy of the message.",
    ),
    FULL,
  ],
  'Exim: a host that was away for days': [
    text(
      'Mail delivery failed',
      'A message sent by\n\n  <shop@sender.example>\n\ncould not be delivered to one or more of its recipients. The following\naddress(es) failed:\n\n  bob@receiver.example\n    all hosts have been failing for a long time and were last tried after this message arrived',
    ),
    TIME_OVER,
  ],
  'Postfix before 2.3': [
    text(
      'Undelivered Mail Returned to Sender',
      "This is the Postfix program at host mx.example.com.\n\nI'm sorry to have to inform you that the message returned\nbelow could not be delivered to one or more destinations.\n\n<bob@receiver.example>: host mx.receiver.example[192.0.2.7] said: 550\n    <bob@receiver.example>: User unknown",
    ),
    DEAD,
  ],
  'Postfix: a name server without an answer': [
    text(
      'Undelivered Mail Returned to Sender',
      "I'm sorry to have to inform you that the message returned\nbelow could not be delivered to one or more destinations.\n\n<bob@receiver.example>: Name service error for domain receiver.example: Host not\n    found, try again",
    ),
    TIME_OVER,
  ],
  'the words of Sendmail, and a reason in brackets': [
    text(
      'Returned Mail: User unknown',
      'The original message was received on Friday\n\n---The following addresses had delivery errors---\n\nbob@receiver.example [User unknown]\n',
    ),
    DEAD,
  ],
  'the words of Sendmail, and a warning in the subject alone': [
    text(
      'Warning--Could not send mail for past 8.5 hours',
      'The original message was received on Friday\n\n---The following addresses had delivery errors---\n\nbob@receiver.example [Connection timed out]\n',
    ),
    'delayed',
  ],
  'Postfix: a warning without its part': [
    text(
      'Delayed Mail (still being retried)',
      'This is the mail system at host mx.example.com.\n\n# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #\n\n<bob@receiver.example>: connect to mx.receiver.example: No route to host',
    ),
    'delayed',
  ],
  "Verizon's gateway": [
    text(
      'Re:Your receipt',
      'Error: Invalid user address\n\nError message below:\n550 - Requested action not taken: no such user here\n\nMessage details:\n  RCPT TO: bob@receiver.example',
    ),
    DEAD,
  ],
  "Verizon's gateway for pictures": [
    text('Undeliverable Message', 'Message could not be delivered to mobile.\nError: It was not taken'),
    GENERAL,
  ],
  'IMail: unknown': [
    text(
      'Undeliverable Mail',
      'Unknown user: bob@receiver.example\n\n\nOriginal message follows.\n\nSubject: x',
    ),
    DEAD,
  ],
  'IMail: no such account': [
    text(
      'Undeliverable Mail',
      'Invalid final delivery userid: bob@receiver.example\n\n\nOriginal message follows.\n',
    ),
    DEAD,
  ],
  'IMail: full': [
    text(
      'Undeliverable Mail',
      'User mailbox exceeds allowed size: bob@receiver.example\n\n\nOriginal message follows.\n',
    ),
    FULL,
  ],
  'IMail: with a reply': [
    text(
      'Undeliverable Mail',
      'undeliverable to bob@receiver.example\nBody of message generated response:\n550-REJECTED - a link is on a block list\n550 Go away',
    ),
    POLICY,
  ],
  MailFoundry: [
    text(
      'Message delivery has failed',
      'Unable to deliver message to: <bob@receiver.example>\nDelivery failed for the following reason:\nmx.receiver.example[192.0.2.7] responded with failure: 552 sorry, mailbox is over quota (#5.1.1)\n\nThis has been a permanent failure.',
    ),
    FULL,
  ],
  'InterScan: with a session': [
    text(
      'It was not delivered',
      '...\n\nSent <<< RCPT TO:<bob@receiver.example>\nReceived >>> 550 5.1.1 <bob@receiver.example>... user unknown\n',
    ),
    DEAD,
  ],
  'InterScan: without a reason': [
    text(
      'Mail could not be delivered',
      'Reason:  Unable to deliver message to <bob@receiver.example> (and other recipients in the same domain).',
    ),
    GENERAL,
  ],
  MailMarshal: [
    text(
      'Undeliverable Mail: "Your receipt"',
      'Your message:\n   From:    shop@sender.example\n\nCould not be delivered because of\n\n550 5.1.1 User unknown\n\nThe following recipients were affected: \n    bob@receiver.example\n\nAdditional Information\n======================\nOriginal Sender:    <shop@sender.example>',
    ),
    DEAD,
  ],
  'KDDI: full': [
    text(
      'Mail',
      'Your mail sent on: Friday\n     Could not be delivered to: <bob@receiver.example>\n     As their mailbox is full.\n',
    ),
    FULL,
  ],
  'KDDI: with a reply': [
    text(
      'Mail System Error - Returned Mail',
      'Each of the following recipients was rejected by a remote\nmail server.\n\n    Recipient: <bob@receiver.example>\n    >>> RCPT TO:<bob@receiver.example>\n    <<< 550 <bob@receiver.example>: User unknown',
    ),
    DEAD,
  ],
  'KDDI: without a reply, and the message behind it': [
    text(
      'Mail System Error - Returned Mail',
      '<bob@receiver.example>\n\nEach of the following recipients was rejected by a remote mail server.\n---------------------------------------------------\nReceived: from mx.example.com by mail.example.com\nSubject: Spam, and how to avoid it',
    ),
    GENERAL,
  ],
  'KDDI: switched off': [
    text('Mail System Error - Returned Mail', 'The user(s) account is disabled.\n\n<bob@receiver.example>'),
    'Permanent MailboxDisabled suppressed',
  ],
  'KDDI: switched off for now': [
    text(
      'Mail System Error - Returned Mail',
      'The user(s) account is temporarily limited.\n\n<bob@receiver.example>',
    ),
    TIME_OVER,
  ],
  'KDDI: too late': [
    text(
      'Mail System Error - Returned Mail',
      'Your message was not delivered within 0 days and 1 hours.\nRemote host is not responding.\n\nThe following recipients did not receive this message:\n\n<bob@receiver.example>',
    ),
    TIME_OVER,
  ],
  'm-FILTER': [
    text(
      'failure notice',
      'It was not sent to this address.\nbob@receiver.example\n\n\n-------server message\n452 4.3.1 Insufficient system resources\n\n-------SMTP command\nDATA\n\n-------original message\nSubject: x',
    ),
    TIME_OVER,
  ],
  'a server that gives full details': [
    text(
      'There was an error sending your mail',
      'We had trouble delivering your message. Full details follow:\n\n1 error(s):\n\nSMTP Server <mx.receiver.example> rejected recipient <bob@receiver.example> (Error following RCPT command). It responded as follows: [550 5.1.1 User unknown]\n\nThe attachment contains the header.',
    ),
    DEAD,
  ],
  'a mailbox that is full, in two lines': [
    text('Returned mail: x', "User's mailbox is full: <bob@receiver.example>\nUnable to deliver mail.\n"),
    FULL,
  ],
  'a relay that says it was after the message': [
    text(
      'Delivery failure',
      'NOTICE: Delivery Failure.\n\nYour delivery to the following address has been failed.\nPlease see below.\n------------------------------------------------------\n\n192.0.2.7 failed after I sent the message.\nRemote host said[Response Message]: 554 5.4.14 Hop count exceeded',
    ),
    'Permanent ConnectionFailed',
  ],
  'Yahoo: a colon behind the code': [
    text(
      'Failure Notice',
      'Sorry, we were unable to deliver your message to the following address.\n\n<bob@receiver.example>:\n501: 5.1.8 Sender address rejected',
    ),
    POLICY,
  ],
  'Yahoo: after some time': [
    text(
      'Failure Notice',
      'Sorry, we were unable to deliver your message to the following address.\n\n<bob@receiver.example>:\nUnable to deliver message after multiple retries, giving up.',
    ),
    TIME_OVER,
  ],
  'Gmail: no connection': [
    text(
      'Delivery Status Notification (Failure)',
      'Delivery to the following recipient failed permanently:\n\n     bob@receiver.example\n\nTechnical details of permanent failure:\nThe recipient server did not accept our requests to connect.\n[(0) mx.receiver.example. [192.0.2.7]:25: socket error]',
    ),
    TIME_OVER,
  ],
  'Zoho: not reachable': [
    text(
      'Undelivered Mail Returned to Sender',
      'A message that you sent could not be delivered to one or more of its recipients.\n\nbob@receiver.example\nError, ERROR_CODE :421, ERROR_CODE :, Host not reachable.',
    ),
    TIME_OVER,
  ],
  'Sendmail: what it says itself is below the reply': [
    text(
      'Returned mail: see transcript for details',
      '   ----- The following addresses had permanent fatal errors -----\n<bob@receiver.example>\n    (reason: 552 Mailbox is over its quota)\n\n   ----- Transcript of session follows -----\n<<< 552 Mailbox is over its quota\n554 5.0.0 Service unavailable',
    ),
    FULL,
  ],
  'Exim: a reply to DATA may be that of a filter': [
    exim(
      '  bob@receiver.example\n    host mx.receiver.example [192.0.2.7]\n    SMTP error from remote mail server after end of data:\n    550 <bob@receiver.example>: User unknown',
    ),
    GENERAL,
  ],
  'm-FILTER: a reply to DATA may be that of a filter': [
    text(
      'failure notice',
      'It was not sent to this address.\nbob@receiver.example\n\n\n-------server message\n550 unknown user <bob@receiver.example>\n\n-------SMTP command\nDATA\n\n-------original message\nSubject: x',
    ),
    GENERAL,
  ],
  'KDDI: a target of an alias': [
    text(
      'Mail System Error - Returned Mail',
      'Each of the following recipients was rejected by a remote\nmail server.\n\n    Recipient: <gone@elsewhere.example>\n    >>> RCPT TO:<gone@elsewhere.example>\n    <<< 550 <gone@elsewhere.example>: User unknown',
    ),
    'Permanent NoEmail',
  ],
  "Verizon's gateway, without an address": [
    text('Re:Your receipt', 'Error message below:\n550 - Requested action not taken: no such user here\n'),
    'Permanent NoEmail',
  ],
  "Verizon's gateway: the first address is that of the sender": [
    text(
      'Re:Your receipt',
      'Error message below:\n550 - no such user here\n\n  MAIL FROM: shop@sender.example\n  RCPT TO: bob@receiver.example',
    ),
    DEAD,
  ],
  'Postfix: a report within the text of a provider': [
    text(
      'Undelivered Mail Returned to Sender',
      "I'm sorry to have to inform you that the message returned\nbelow could not be delivered to one or more destinations.\n\nReceived: by mx.example.com (Postfix)\nSubject: Undelivered Mail\n\nThis is the Postfix program at host mx.example.com.\n\n<bob@receiver.example>: host mx.receiver.example[192.0.2.7] said: 550 5.1.1\n    User unknown",
    ),
    DEAD,
  ],
};
