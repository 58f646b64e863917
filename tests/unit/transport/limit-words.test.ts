import { describe, expect, test } from 'bun:test';
import {
  type LimitWords,
  limitInWords,
  saysEnoughRecipients,
} from '../../../src/mail/transport/limits/limit-words.ts';
import type { Step } from '../../../src/mail/transport/smtp/reply.ts';

/** Replies of servers at their limits, and replies about other things. */
const SAID: readonly (readonly [LimitWords | null, string])[] = [
  // Mails in a session, and connections at once.
  ['count', '452 4.5.3 Too many recipients: Too many messages sent'],
  ['count', '421 too many messages in this connection'],
  ['count', '421 Too many concurrent SMTP connections; please try again later.'],
  ['count', '421 Too many concurrent SMTP connections from this IP address; please try again later.'],
  ['count', '421 4.7.0 mx.test Error: too many connections from 192.0.2.1'],
  ['count', '421 4.7.0 Too many connections from your address, please try again later'],
  ['count', '421 smtp-19.mx.test Too many connections, slow down'],
  ['count', '432 4.3.2 Concurrent connections limit exceeded. Visit https://docs.test/'],
  ['count', '452 4.4.5 Maximum number of messages per session exceeded.'],
  ['count', '421 Connection closed by server. Maximum message count per session reached.'],
  ['count', '452 4.3.1 Session size exceeds fixed maximum session size'],
  ['count', '421 4.4.5 Server busy, too many concurrent sessions'],
  ['count', '450 too many sessions open'],
  // Mails in a time.
  ['rate', '450 4.7.1 Error: too much mail from 192.0.2.1'],
  ['rate', '450 4.7.1 Error: too many recipients from 192.0.2.1'],
  ['rate', '421 4.7.28 Gmail has detected an unusual amount of mail'],
  [
    'rate',
    '450 4.2.1 x: Recipient address rejected'
      .replace('4.2.1', '4.7.1')
      .concat(': Policy Rejection- Quota Exceeded.'),
  ],
  ['rate', '454 Throttling failure: Maximum sending rate exceeded.'],
  ['rate', '451 4.7.500 Server busy. Please try again later'],
  ['rate', '421 4.7.0 Try again later, you are sending too many messages per hour'],
  ['rate', '454 4.7.0 Too many login attempts, please try again later'],
  ['rate', '450 4.7.1 Hourly limit reached'],
  // No limit of the server.
  [null, '450 4.7.1 Greylisted, please try again in 300 seconds'],
  [null, '451 4.7.1 Greylisting in action, rate limited, please come back later'],
  [null, '452 4.2.2 Mailbox full: quota exceeded'],
  [null, '450 4.2.1 The user is receiving mail too quickly'],
  [null, '451 4.3.0 Temporary lookup failure'],
  [null, '451 4.7.1 Please try again later'],
  [null, '421 4.3.2 Service shutting down'],
  [null, '451 4.4.2 Timeout waiting for data from client.'],
  [null, '550 5.7.1 Too many connections'],
  [null, '250 2.0.0 Ok: rate'],
  [null, 'Connection closed unexpectedly'],
];

describe('what a server says of its limits', () => {
  for (const [words, reply] of SAID)
    test(`${words}: ${reply}`, () => expect(limitInWords(reply, 'MAIL')).toBe(words));
});

/** Replies of real servers to one recipient or one mail, each with the step that it comes at. */
const AT_STEPS: readonly (readonly [LimitWords | null, Step, string])[] = [
  // A mailbox that is full, or gets too much: Gmail, Outlook, Yahoo, Exchange, Postfix, Dovecot, Exim,
  // Sendmail, Zimbra, cPanel, iCloud.
  [
    null,
    'RCPT',
    '452 4.2.2 The email account that you tried to reach is over quota. Please direct the recipient to',
  ],
  [
    null,
    'RCPT',
    "452-4.2.2 The recipient's inbox is out of storage space. Please direct the\n452-4.2.2 recipient to",
  ],
  [
    null,
    'RCPT',
    '450-4.2.1 The user you are trying to contact is receiving mail too quickly.\n450-4.2.1 Please resend your message at a later time.',
  ],
  [
    null,
    'RCPT',
    '450 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered',
  ],
  [
    null,
    'DOT',
    '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages',
  ],
  [null, 'RCPT', '452 4.2.2 Mailbox full'],
  [null, 'DOT', '432 4.2.2 STOREDRV.Deliver; recipient thread limit exceeded'],
  [null, 'DOT', '452 4.2.2 Quota exceeded (mailbox for user is full)'],
  [null, 'RCPT', '452 Mailbox quota exceeded'],
  [null, 'DOT', '452 4.3.1 user quota exceeded'],
  [null, 'RCPT', '452 4.1.1 recipient over quota exceeded'],
  [null, 'DOT', '452 4.1.1 recipient over quota exceeded'],
  [null, 'RCPT', '452 4.2.2 <x@y.test>: Recipient address rejected: User quota exceeded'],
  [null, 'RCPT', '450 <x@y.test>: Recipient address rejected: Mailbox is full / quota exceeded'],
  [null, 'RCPT', '452 Requested action not taken: insufficient system storage'],
  [null, 'DOT', '452 4.3.1 Insufficient system storage'],
  [null, 'DOT', '452 4.3.1 Insufficient system resources (UsedVersionBuckets[C:])'],
  [null, 'MAIL', '452 4.4.5 Insufficient disk space; try again later'],
  [null, 'RCPT', '452 5.2.2 Over quota'],
  [null, 'RCPT', '452 4.2.2 user is over quota'],
  [null, 'RCPT', '451 Mailbox has exceeded its message quota'],
  [null, 'RCPT', '450 4.0.0 Account exceeded its storage limit: quota exceeded'],
  [null, 'RCPT', '451 4.7.1 Recipient rate limit exceeded for this mailbox'],
  [null, 'RCPT', '450 4.7.1 <x@y.test>: Recipient address rejected: rate exceeded'],
  [null, 'RCPT', '451 4.3.2 Rate limit exceeded'],
  [null, 'RCPT', '450 4.2.0 <x@y.test>: Recipient address rejected: Greylisted'],
  [null, 'RCPT', '450 4.1.1 <x@y.test>: Recipient address rejected: unverified address'],
  // The client, or all that it sends: Gmail, Outlook, Yahoo, Postfix, Exim, Sendmail, Exchange, SES,
  // SendGrid, cPanel, policyd, Mimecast.
  [
    'rate',
    'DOT',
    '421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your IP address.',
  ],
  [
    'rate',
    'DOT',
    '421 4.7.0 Our system has detected an unusual rate of unsolicited mail originating from your IP address.',
  ],
  ['rate', 'RCPT', '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77719)'],
  [
    'rate',
    'MAIL',
    '451 4.7.651 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation. (S775)',
  ],
  [
    'count',
    'RCPT',
    '451 4.7.652 The mail server [192.0.2.1] has exceeded the maximum number of connections. (S3115)',
  ],
  [
    'rate',
    'MAIL',
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints; rate',
  ],
  ['rate', 'RCPT', '450 4.7.1 Error: too many recipients from 192.0.2.1'],
  ['rate', 'MAIL', '450 4.7.1 Error: too much mail from 192.0.2.1'],
  ['rate', 'MAIL', '451 Sender rate overlimit - 36.5 / 1h, please slow down'],
  ['rate', 'RCPT', '450 Ratelimit: sender a@b.test has sent too many messages in this hour'],
  ['rate', 'DOT', '454 Throttling failure: Maximum sending rate exceeded.'],
  ['rate', 'DOT', '454 Throttling failure: Daily message quota exceeded.'],
  ['rate', 'DOT', '451 Authentication failed: Maximum credits exceeded, hourly limit reached'],
  ['rate', 'MAIL', '432 4.7.1 Submission quota exceeded for this sender'],
  [
    'rate',
    'RCPT',
    '450 4.7.1 <x@y.test>: Recipient address rejected: Policy Rejection- Quota Exceeded. Your sender limit is 100 messages',
  ],
  ['rate', 'RCPT', '451 4.7.1 Rate limit exceeded, slow down'],
  ['rate', 'MAIL', '451 4.7.1 Outgoing quota exceeded, try again in an hour'],
  [
    'rate',
    'RCPT',
    '450 4.4.2 Domain example.test has exceeded the max emails per hour (150/100) allowed. Message will be reattempted later',
  ],
  ['rate', 'DATA', '451 Too many messages from your network per minute'],
  ['rate', 'RCPT', '452 4.5.0 Sender has exceeded its daily limit of messages'],
  ['count', 'MAIL', '421 4.3.2 Connection rate limit exceeded.'],
  [
    'count',
    'DOT',
    '432 4.3.2 Concurrent connections limit exceeded. Visit https://docs.test/concurrent-limit',
  ],
  ['count', 'RCPT', '452 4.5.3 Too many recipients'],
];

describe('a limit of one recipient is none of the server', () => {
  for (const [words, step, reply] of AT_STEPS)
    test(`${words} at ${step}: ${reply}`, () => expect(limitInWords(reply, step)).toBe(words));
});

test('enough recipients in one mail, and no more from one client', () => {
  const said = [
    ['452 4.5.3 Too many recipients', true],
    ['452 Error: too many recipients', true],
    ['451 too many rcpts in this message', true],
    ['450 4.7.1 Error: too many recipients from 192.0.2.1', false],
    ['452 4.2.2 Mailbox full', false],
    ['552 5.5.3 Too many recipients', false],
  ] as const;
  expect(said.map(([reply]) => [reply, saysEnoughRecipients(reply)])).toEqual(said.map((one) => [...one]));
});
