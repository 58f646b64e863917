import { describe, expect, test } from 'bun:test';
import {
  provesAddressDead,
  readReply,
  type Step,
  verdictOf,
} from '../../../src/mail/transport/smtp/reply.ts';

const verdict = (step: Step, response: string) => {
  const { outcome, fault, subType } = verdictOf(step, readReply(response));
  return [outcome, fault, subType].filter(Boolean).join(' ');
};

describe('an SMTP reply means', () => {
  const cases: [Step, string, string][] = [
    ['DOT', '250 2.0.0 Ok: queued as 4F', 'accepted'],
    [
      'RCPT',
      '550 5.1.1 <x@y.example>: Recipient address rejected: User unknown',
      'refused recipient NoEmail',
    ],
    ['RCPT', '550 No such user here', 'refused recipient NoEmail'],
    ['RCPT', '550 rejected', 'refused infrastructure General'],
    ['RCPT', '553 sorry', 'refused infrastructure General'],
    [
      'RCPT',
      '550 5.2.1 The email account that you tried to reach is disabled',
      'refused recipient MailboxDisabled',
    ],
    ['RCPT', '552 5.2.2 Mailbox full', 'refused recipient MailboxFull'],
    ['RCPT', '452 4.2.2 Over quota', 'deferred recipient MailboxFull'],
    ['RCPT', '450 4.7.1 Greylisted, try again', 'deferred infrastructure RateLimited'],
    ['RCPT', '451 Greylisting in action', 'deferred infrastructure RateLimited'],
    [
      'RCPT',
      '550 5.7.1 Service unavailable; client [192.0.2.1] blocked using zen',
      'refused infrastructure PolicyRejected',
    ],
    [
      'RCPT',
      '554 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
      'refused infrastructure PolicyRejected',
    ],
    ['RCPT', '550 Relaying denied', 'refused infrastructure PolicyRejected'],
    ['RCPT', '556 5.1.10 Recipient address has null MX', 'refused recipient DomainNotFound'],
    ['MAIL', '550 5.1.8 Sender domain does not resolve', 'refused infrastructure PolicyRejected'],
    ['MAIL', '552 5.3.4 Message size exceeds fixed limit', 'refused message MessageTooLarge'],
    ['MAIL', '552 too big', 'refused message MessageTooLarge'],
    ['MAIL', '451 4.3.0 Temporary lookup failure', 'deferred infrastructure General'],
    // GMX and WEB.DE begin each 550 so; this sender's domain has neither a mail server nor an address.
    [
      'MAIL',
      '550-Requested action not taken: mailbox unavailable\n550 invalid DNS MX or A/AAAA resource record',
      'refused infrastructure PolicyRejected',
    ],
    [
      'DOT',
      '550-Requested action not taken: mailbox unavailable\n550 invalid DNS MX or A/AAAA resource record',
      'refused infrastructure PolicyRejected',
    ],
    ['RCPT', '550 Requested action not taken: mailbox unavailable', 'refused recipient NoEmail'],
    // The recipient was taken at RCPT.
    ['DOT', '550 The domain in From does not exist', 'refused message ContentRejected'],
    ['DOT', '554 host unknown in a link', 'refused message ContentRejected'],
    ['DOT', '550 Reply-To address does not exist', 'refused message ContentRejected'],
    ['DOT', '550 From: address unknown', 'refused message ContentRejected'],
    ['DOT', '550 5.1.2 unknown domain', 'refused recipient DomainNotFound'],
    ['MAIL', '550 unknown user', 'refused infrastructure PolicyRejected'],
    ['MAIL', '553 5.1.2 unknown domain', 'refused infrastructure PolicyRejected'],
    ['MAIL', '550 5.2.1 Mailbox disabled', 'refused infrastructure PolicyRejected'],
    ['MAIL', '452 4.3.1 Insufficient system storage', 'deferred infrastructure General'],
    // Yandex, SFR, Microsoft 365, Cisco, Free and others have other statuses for mailboxes that are not
    // there.
    ['RCPT', '550 5.7.1 No such user!', 'refused recipient NoEmail'],
    [
      'RCPT',
      '550 5.7.1 <bob@receiver.example>: Recipient address rejected: User unknown',
      'refused recipient NoEmail',
    ],
    [
      'RCPT',
      '550 5.7.1 <b+x@sender.example>: Sender address rejected: User unknown',
      'refused infrastructure PolicyRejected',
    ],
    [
      'RCPT',
      '550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [AM0.eop-EUR.example]',
      'refused recipient NoEmail',
    ],
    [
      'RCPT',
      '554 5.7.1 <bob@receiver.example>: Recipient address rejected: Access denied',
      'refused infrastructure PolicyRejected',
    ],
    ['RCPT', '550 #5.1.0 Address rejected.', 'refused recipient NoEmail'],
    ['RCPT', '550 5.1.0 Address rejected.', 'refused infrastructure General'],
    [
      'RCPT',
      '550 5.2.1 This mailbox has been blocked due to inactivity (UserSearch)',
      'refused recipient MailboxDisabled',
    ],
    [
      'RCPT',
      '550 5.1.1 Your mail was blocked by the mailbox of bob',
      'refused infrastructure PolicyRejected',
    ],
    ['RCPT', '550 No such domain at this location', 'refused infrastructure PolicyRejected'],
    [
      'RCPT',
      '550 5.1.1 Recipient address rejected: unverified address: Address verification in progress',
      'refused infrastructure General',
    ],
    ['RCPT', '550 Ip frequency limited', 'refused infrastructure RateLimited'],
    ['RCPT', '550 Destinatario sconosciuto', 'refused recipient NoEmail'],
    ['RCPT', '550 Utilisateur inconnu', 'refused recipient NoEmail'],
    ['RCPT', '550 Empfänger ist nicht bekannt', 'refused recipient NoEmail'],
    ['RCPT', '550 Absender unbekannt, Empfänger unbekannt', 'refused infrastructure PolicyRejected'],
    ['RCPT', '550 Destinatario desconocido o mailbox lleno', 'refused recipient MailboxFull'],
    ['DATA', '451 no', 'deferred infrastructure General'],
    ['DOT', '554 5.6.0 Message contains invalid header', 'refused message ContentRejected'],
    ['DOT', '554 Message rejected as spam', 'refused message ContentRejected'],
    ['DOT', '554 transaction failed', 'refused message ContentRejected'],
    ['DOT', "554 delivery error: dd This user doesn't have a yahoo.com account", 'refused recipient NoEmail'],
    // Carriers say so where a person filters the sender.
    ['DOT', '550 Unknown user bob@receiver.example', 'refused infrastructure General'],
    ['DATA', '550 <bob@receiver.example>: User unknown', 'refused infrastructure General'],
    ['RCPT', '550 Unknown user bob@receiver.example', 'refused recipient NoEmail'],
    ['DOT', '550 5.1.1 User unknown', 'refused recipient NoEmail'],
    ['DOT', '421 4.7.28 Gmail has detected an unusual rate', 'deferred infrastructure RateLimited'],
    ['SESSION', '554 5.7.1 No SMTP service for you', 'deferred infrastructure PolicyRejected'],
    ['SESSION', '421 too many connections', 'deferred infrastructure RateLimited'],
    ['SESSION', '535 5.7.8 authentication failed', 'deferred infrastructure AuthenticationFailed'],
    ['SESSION', '554 no service', 'deferred infrastructure ConnectionFailed'],
    ['RCPT', 'garbage', 'deferred infrastructure General'],
  ];
  for (const [step, response, expected] of cases)
    test(`${expected}: ${step} ${response}`, () => expect(verdict(step, response)).toBe(expected));
});

describe('parsing an SMTP reply', () => {
  test('with its enhanced code', () => {
    expect(readReply('550-5.1.1 one\n550 5.1.1 two')).toEqual({
      code: 550,
      enhancedCode: '5.1.1',
      text: '550-5.1.1 one\n550 5.1.1 two',
    });
  });
  test('without one', () => {
    expect(readReply('250 10.0.0.1 says hello')).toMatchObject({ code: 250, enhancedCode: null });
    expect(readReply('hello')).toMatchObject({ code: null, enhancedCode: null });
    expect(readReply('')).toMatchObject({ code: null, text: '' });
  });
  test('and cut at 1,000 characters', () =>
    expect(readReply(`550 ${'x'.repeat(5_000)}`).text.length).toBe(1_000));
});

describe('an SMTP reply proves an address dead', () => {
  const dead = (step: Step, response: string) => provesAddressDead(verdictOf(step, readReply(response)));
  test('by a server that does not know it', () => expect(dead('RCPT', '550 5.1.1 unknown')).toBe(true));
  for (const response of [
    '552 5.2.2 full',
    '550 5.7.1 blocked',
    '450 4.1.1 unknown for now',
    '554 5.6.0 bad',
    '552 5.3.4 big',
  ])
    test(`not by ${response}`, () => expect(dead('RCPT', response)).toBe(false));
  test('not by a session that was refused', () => expect(dead('SESSION', '550 5.1.1 unknown')).toBe(false));
});
