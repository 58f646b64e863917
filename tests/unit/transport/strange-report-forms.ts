/** Reports with small faults, and with words that mean something else elsewhere. */
import {
  DEAD,
  FULL,
  failed,
  GENERAL,
  mail,
  NO_DOMAIN,
  POLICY,
  qmail,
  report,
  TIME_OVER,
  text,
} from './report-shapes.ts';

/** A block about a failure, with the recipient as it is written there. */
const about = (recipient: string): string =>
  `Final-Recipient: ${recipient}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 unknown`;

/** Each form with what it has to come to. */
export const STRANGE_FORMS: Readonly<Record<string, readonly [raw: string, verdict: string]>> = {
  'Facebook: 5.1.1 for what a person does not want': [
    report('', failed('5.1.1', 'smtp; 550 5.1.1 RCP-P2 Refused due to recipient preferences')),
    POLICY,
  ],
  'a quota of the sender': [
    report('', failed('5.0.0', "smtp; 554 You've reached your daily relay quota - 192.0.2.1")),
    'Permanent RateLimited',
  ],
  'Gmail: the mail server of a domain does not exist': [
    report(
      '',
      failed(
        '4.0.0',
        "smtp; DNS Error: 1234 DNS type 'a' lookup of mx.gone.example responded with code NXDOMAIN\n Domain name not found: mx.gone.example",
      ),
    ),
    'Permanent ConnectionFailed',
  ],
  'SendGrid: expired': [
    report(
      '',
      'Final-Recipient: rfc822; bob@receiver.example\nAction: expired\nStatus: \nDiagnostic-Code: It was not taken',
    ),
    TIME_OVER,
  ],
  'Mimecast: an address of another type': [
    report(
      '',
      'Final-Recipient: rfc/822;bob@receiver.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 unknown',
    ),
    DEAD,
  ],
  'XWall: the type of an address twice': [report('', about('rfc822; rfc822;bob@receiver.example')), DEAD],
  'an address with a name': [report('', about('rfc822; Bob <bob@receiver.example>')), DEAD],
  'an address with a comment': [report('', about('rfc822; bob@receiver.example (Bob)')), DEAD],
  'an address beyond ASCII in a report in ASCII': [
    report('', about('utf-8; \\x{62}ob@receiver.example')),
    DEAD,
  ],
  'a character beyond Unicode in it': [
    report('', about('utf-8; \\x{FFFFFF}bob@receiver.example')),
    'Permanent NoEmail',
  ],
  // The sender is refused before the server has learned the recipient.
  'Postfix: a sender that does not exist': [
    report(
      "I'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients.\n\n<bob@receiver.example>: host mx.receiver.example[192.0.2.1] said: 550\n    Requested action not taken: mailbox unavailable (in reply to MAIL FROM\n    command)",
      failed('5.0.0', 'smtp; 550 Requested action not taken: mailbox unavailable'),
    ),
    POLICY,
  ],
  'qmail: a sender that does not exist': [
    qmail(
      '<bob@receiver.example>:\nConnected to 192.0.2.1 but sender was rejected.\nRemote host said: 550 unknown domain',
    ),
    POLICY,
  ],
  'GMX: the domain of the sender has no mail server': [
    report(
      '',
      failed(
        '5.0.0',
        'smtp; 550-Requested action not taken: mailbox unavailable 550 invalid DNS MX or A/AAAA resource record',
      ),
    ),
    POLICY,
  ],
  'qmail: a recipient whose domain does not exist': [
    qmail(
      '<bob@receiver.example>:\nConnected to 192.0.2.1 but recipient was rejected.\nRemote host said: 550 unknown domain',
    ),
    NO_DOMAIN,
  ],
  'a boundary that is another one in the parts': [
    report('', failed('5.1.1', 'smtp; 550 5.1.1 unknown')).replace('boundary=B', 'boundary=C'),
    DEAD,
  ],
  'parts without their boundaries': [
    report('', failed('4.4.7', 'smtp; connection timed out'))
      .replace(/^--B(?:--)?$/gm, '')
      .replace(/^Content-Type: (?:text|message).*$/gm, ''),
    TIME_OVER,
  ],
  'a part of another type': [
    report('', failed('5.2.2', 'smtp; 552 5.2.2 over quota')).replace(
      'message/delivery-status',
      'text/plain',
    ),
    FULL,
  ],
  'Postfix: a report about no recipient': [
    report(
      "This is the mail system at host mx.example.com.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients.",
      'X-Postfix-Queue-ID: 1',
    ),
    GENERAL,
  ],
  'in html alone': [
    mail(
      'Subject: Undeliverable\nMIME-Version: 1.0\nContent-Type: text/html',
      '<p>Delivery has failed to these recipients or groups:</p><p>bob@receiver.example</p><p>Diagnostic information</p><p>550 5.1.1 User unknown</p>',
    ),
    DEAD,
  ],
  'a report that a person forwards': [
    text(
      'Fwd: Returned mail',
      'See below.\n\n> Final-Recipient: rfc822; bob@receiver.example\n> Action: failed\n> Status: 5.1.1\n',
    ),
    'unread',
  ],
  'Outlook.com: reported as junk': [
    mail(
      'Subject: complaint about message from 192.0.2.1\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B',
      '--B\nContent-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: bob@receiver.example\nSubject: Your receipt\n\nThank you.\n--B--',
    ),
    'complained',
  ],
  'Sendmail: a reply to DATA may be that of a filter': [
    report('', failed('5.2.0', 'SMTP; 550 Unknown user bob@receiver.example')),
    GENERAL,
  ],
  'Sendmail: a reply to RCPT is that of no filter': [
    report('', failed('5.1.1', 'SMTP; 550 Unknown user bob@receiver.example')),
    DEAD,
  ],
  'Postfix: a reply to DATA may be that of a filter': [
    report(
      '<bob@receiver.example>: host mx.receiver.example[192.0.2.7] said:\n    550 Unknown user bob@receiver.example (in reply to end of DATA\n    command)',
      failed('5.0.0', 'smtp; 550 Unknown user bob@receiver.example'),
    ),
    GENERAL,
  ],
  'Postfix: a reply to RCPT is that of no filter': [
    report(
      '<bob@receiver.example>: host mx.receiver.example[192.0.2.7] said:\n    550 Unknown user bob@receiver.example (in reply to RCPT TO command)',
      failed('5.0.0', 'smtp; 550 Unknown user bob@receiver.example'),
    ),
    DEAD,
  ],
  'an address with a bracket behind it': [
    report('', failed('5.1.1', 'smtp; 550 5.1.1 unknown').replace('receiver.example', 'receiver.example>')),
    DEAD,
  ],
};
