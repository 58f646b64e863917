import { describe, expect, test } from 'bun:test';
import { readReport } from '../../../src/mail/inbound/read-report.ts';
import { costMsOf } from '../../support/own-time.ts';
import { FORMS } from './report-forms.ts';
import { arf, dsn, EXCHANGE, EXIM, EXPIRED, GMAIL, POSTFIX, SEVERAL } from './reports.ts';

const TO = ['b+token-1@bounces.sender.example'];
const reference = { token: 'token-1', emailId: null, providerId: null, messageId: '<em_1@sender.example>' };

describe('a bounce says', () => {
  test('that an address does not exist: it may be suppressed', async () => {
    expect(await readReport(dsn({ status: POSTFIX }), TO)).toEqual([
      {
        kind: 'bounced',
        permanent: true,
        isFinal: true,
        fault: 'recipient',
        subType: 'NoEmail',
        smtpCode: 550,
        enhancedCode: '5.1.1',
        message:
          '550 5.1.1 <bob@inner.example>: Recipient address rejected: User unknown in local recipient table',
        remoteMta: 'inner.example',
        suppresses: true,
        failing: 'bob@inner.example',
        reference,
        recipient: 'bob+shop@receiver.example',
      },
    ]);
  });

  test('that a mailbox is full, by words alone: it may not be suppressed', async () => {
    expect(await readReport(dsn({ status: EXIM }), TO)).toMatchObject([
      {
        permanent: true,
        fault: 'recipient',
        subType: 'MailboxFull',
        enhancedCode: '5.0.0',
        suppresses: false,
      },
    ]);
  });

  test('that our address is on a list: no recipient may be suppressed for that', async () => {
    expect(await readReport(dsn({ status: EXCHANGE }), TO)).toMatchObject([
      {
        permanent: true,
        fault: 'infrastructure',
        subType: 'PolicyRejected',
        smtpCode: 550,
        remoteMta: 'AM0PR01.prod.outlook.example',
        suppresses: false,
      },
    ]);
  });

  test('that time ran out: the bounce is transient', async () => {
    expect(await readReport(dsn({ status: EXPIRED }), TO)).toMatchObject([
      {
        permanent: false,
        fault: 'infrastructure',
        subType: 'ConnectionFailed',
        smtpCode: null,
        enhancedCode: '4.4.1',
        suppresses: false,
      },
    ]);
  });

  test('that a filter of the recipient refused it, in the words of the person', async () => {
    const [raw] = FORMS['Sieve: a filter of the recipient refuses'] as readonly [string, string];
    expect(await readReport(Buffer.from(raw), TO, true)).toMatchObject([
      {
        kind: 'bounced',
        permanent: true,
        subType: 'PolicyRejected',
        smtpCode: null,
        message:
          'Your message to <bob@receiver.example> was automatically rejected: 550 5.1.1 User unknown to my filter.',
        suppresses: false,
        recipient: 'bob@receiver.example',
      },
    ]);
  });

  test('that the mailbox is full, in the words of Dovecot, which writes the fields as one block', async () => {
    const human =
      'Your message to <bob@receiver.example> was automatically rejected:\nQuota exceeded (mailbox for user is full)\n';
    const status =
      'Reporting-MTA: dns; mx.receiver.example\nFinal-Recipient: rfc822; bob@receiver.example\nAction: failed\nStatus: 5.2.2\n';
    expect(await readReport(dsn({ human, status }), TO, true)).toMatchObject([
      {
        subType: 'MailboxFull',
        enhancedCode: '5.2.2',
        message: 'Quota exceeded (mailbox for user is full)',
        remoteMta: 'mx.receiver.example',
        recipient: 'bob@receiver.example',
      },
    ]);
  });

  test('that it takes longer', async () => {
    expect(await readReport(dsn({ status: GMAIL }), TO)).toMatchObject([
      { kind: 'delayed', message: 'The recipient server did not accept our requests to connect.' },
    ]);
  });

  test('something else for each recipient; relayed is not delivered', async () => {
    const found = await readReport(dsn({ status: SEVERAL }), TO);
    expect(found.map(({ kind, recipient }) => `${recipient} ${kind}`)).toEqual([
      'a@receiver.example delivered',
      'b@receiver.example passedOn',
      'c@receiver.example bounced',
    ]);
    expect(found[2]).toMatchObject({ fault: 'message', subType: 'MessageTooLarge' });
  });

  test('a reply in brackets, which are not a part of it', async () => {
    const status = 'Final-Recipient: rfc822; bob@receiver.example\nAction: failed\nStatus: 5.0.0\n';
    const human = '<bob@receiver.example>\n  (reason: 550 No such user)\n';
    expect(await readReport(dsn({ human, status }), TO)).toMatchObject([{ message: '550 No such user' }]);
    const open = human.replace('user)', 'user (here)').replace('  (r', '  r');
    expect(await readReport(dsn({ human: open, status }), TO)).toMatchObject([
      { message: '550 No such user (here)' },
    ]);
  });

  test('nothing more than that it failed', async () => {
    const status = 'Final-Recipient: rfc822; bob@receiver.example\nAction: failed\nStatus: 5.0.0\n';
    expect(await readReport(dsn({ status }), TO)).toMatchObject([
      { permanent: true, enhancedCode: '5.0.0', message: '5.0.0' },
    ]);
  });
});

describe('a bounce identifies its message', () => {
  test('by the VERP address before anything else, in any case of letters', async () => {
    const [feedback] = await readReport(dsn({ status: POSTFIX }), ['B+Token-2@BOUNCES.sender.example']);
    expect(feedback?.reference.token).toBe('token-2');
  });
  test('by the return path in the returned header', async () => {
    const [feedback] = await readReport(dsn({ status: POSTFIX }), ['postmaster@sender.example']);
    expect(feedback?.reference.token).toBe('token-1');
  });
  test('by its id, when only the header came back', async () => {
    const raw = dsn({ status: POSTFIX, original: 'Message-ID:\n <em_9@sender.example>\n' });
    const headersOnly = Buffer.from(raw.toString().replace('message/rfc822', 'text/rfc822-headers'));
    const [feedback] = await readReport(headersOnly, ['postmaster@sender.example']);
    expect(feedback?.reference).toEqual({
      token: null,
      emailId: null,
      providerId: null,
      messageId: '<em_9@sender.example>',
    });
  });
});

describe('a complaint report', () => {
  const ABUSE = `Feedback-Type: abuse
User-Agent: Receiver-FBL/1.0
Version: 1
Original-Mail-From: <b+token-7@bounces.sender.example>
Original-Rcpt-To: <bob@receiver.example>
`;
  test('names its kind, the recipient and the message', async () => {
    expect(await readReport(arf(ABUSE), ['complaints@sender.example'])).toEqual([
      {
        kind: 'complained',
        feedbackType: 'abuse',
        userAgent: 'Receiver-FBL/1.0',
        reference: { ...reference, token: 'token-7' },
        recipient: 'bob@receiver.example',
      },
    ]);
  });
  test('may hide the recipient', async () => {
    expect(await readReport(arf('Feedback-Type: fraud\nVersion: 1\n'), [])).toMatchObject([
      { feedbackType: 'fraud', userAgent: null, recipient: null, reference: { token: 'token-1' } },
    ]);
  });
  const ofOutlook = (
    field: string,
    subject = 'complaint about message from 192.0.2.1',
  ) => `From: staff@receiver.example\r
Subject: ${subject}\r
Content-Type: multipart/mixed; boundary=B\r
\r
--B\r
Content-Type: message/rfc822\r
\r
${field}: bob@receiver.example\r
Authentication-Results: receiver.example; spf=pass smtp.mailfrom=b+token-8@bounces.sender.example; dkim=none\r
Message-ID: <em_1@sender.example>\r
\r
Thank you.\r
--B--\r
`;
  test('of Outlook.com has no part of this type: the mail names the recipient and its sender', async () => {
    const raw = Buffer.from(ofOutlook('X-HmXmrOriginalRecipient'));
    expect(await readReport(raw, ['complaints@sender.example'])).toEqual([
      {
        kind: 'complained',
        feedbackType: 'abuse',
        userAgent: null,
        recipient: 'bob@receiver.example',
        reference: { ...reference, token: 'token-8' },
      },
    ]);
    for (const other of [ofOutlook('X-Other'), ofOutlook('X-HmXmrOriginalRecipient', 'Fwd: Your receipt')])
      expect(await readReport(Buffer.from(other), ['complaints@sender.example'])).toEqual([]);
  });
  test.each(['opt-out', 'Opt-Out-List'])('of %s says that the recipient leaves', async (type) => {
    expect(await readReport(arf(ABUSE.replace('abuse', type)), [])).toMatchObject([
      { kind: 'optedOut', recipient: 'bob@receiver.example', reference: { token: 'token-7' } },
    ]);
  });
  for (const type of ['not-spam', 'auth-failure'])
    test(`is not what a report of ${type} is`, async () => {
      expect(await readReport(arf(ABUSE.replace('abuse', type)), [])).toEqual([]);
    });
});

describe('a mail that is no report says nothing:', () => {
  const mails: Record<string, string | Buffer> = {
    'an automatic answer':
      'From: bob@receiver.example\r\nAuto-Submitted: auto-replied\r\nSubject: Out of office\r\n\r\nBack on Monday. 5.1.1',
    'an empty mail': '',
    garbage: Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 7_919) % 256)),
    'a report without its part': dsn({ status: POSTFIX })
      .toString()
      .replace('message/delivery-status', 'text/plain'),
    'a report cut off': dsn({ status: POSTFIX }).subarray(0, 420),
    'a report without recipients': dsn({ status: 'Reporting-MTA: dns; x\n' }),
    'parts within parts without end': `Content-Type: multipart/mixed; boundary=a\r\n\r\n${'--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n'.repeat(2_000)}`,
  };
  for (const [name, raw] of Object.entries(mails))
    test(name, async () => expect(await readReport(Buffer.from(raw), TO)).toEqual([]));
});

test('a hostile report is bounded in what it says and in processor time', async () => {
  const status = `Reporting-MTA: dns; x\n\nFinal-Recipient: rfc822; a@b.example\nAction: failed\nStatus: 5.1.1\nRemote-MTA: dns; ${'x'.repeat(
    9_000,
  )}\nX-Long: ${' '.repeat(100_000)}x\n`;
  const reading: ReturnType<typeof readReport>[] = [];
  expect(
    await costMsOf(() => {
      reading.push(readReport(dsn({ status }), TO));
      return Promise.all(reading);
    }),
  ).toBeLessThan(1_000);
  const [told] = (await reading[0]) ?? [];
  expect(told).toMatchObject({ kind: 'bounced', recipient: 'a@b.example' });
  expect(told?.kind === 'bounced' && told.remoteMta?.length).toBeLessThan(2_001);
});

test('a report says one thing of each recipient, of at most fifty', async () => {
  const block = (recipient: string, action: string) =>
    `\nFinal-Recipient: rfc822; ${recipient}\nAction: ${action}\nStatus: 5.1.1\n`;
  const repeated =
    block('a@b.example', 'failed') + block('A@B.example', 'failed') + block('c@b.example', 'delivered');
  const told = await readReport(dsn({ status: `Reporting-MTA: dns; x\n${repeated}` }), TO);
  expect(told.map(({ kind, recipient }) => `${recipient} ${kind}`)).toEqual([
    'a@b.example bounced',
    'c@b.example delivered',
  ]);
  const many = Array.from({ length: 51 }, (_, n) => block(`r${n}@b.example`, 'failed')).join('');
  expect((await readReport(dsn({ status: `Reporting-MTA: dns; x\n${many}` }), TO)).length).toBe(50);
});
