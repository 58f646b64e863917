import { describe, expect, test } from 'bun:test';
import {
  type LimitWords,
  limitInWords,
  saysEnoughRecipients,
} from '../../../src/mail/transport/limits/limit-words.ts';

/** What servers say at their limits, and what they say of other things. */
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
    test(`${words}: ${reply}`, () => expect(limitInWords(reply)).toBe(words));
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
