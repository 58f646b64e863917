import { describe, expect, test } from 'bun:test';
import { composeReport, type StatusReport } from '../../src/mail/compose/status-report.ts';
import { readDeliveryReport } from '../../src/mail/inbound/delivery-report.ts';
import { type News, newsOf, type ReportedEvent } from '../../src/sending/emails/reports/news.ts';

const sent: ReportedEvent = { type: 'sent', data: { response: '250 2.0.0 Ok' } };
const unreported: ReportedEvent = { type: 'sent', data: { response: '250 Ok', isUnreported: true } };
const delivered: ReportedEvent = {
  type: 'delivered',
  data: { response: '250 2.0.0 Stored', remoteMta: 'mx.example' },
};
const bounced: ReportedEvent = {
  type: 'bounced',
  data: { message: '550 5.1.1 No', enhancedCode: '5.1.1', smtpCode: 550, remoteMta: 'mx.example' },
};
const wait = { status: 'pending', reason: null } as const;
const taken = { status: 'sent', reason: null } as const;
const there = { status: 'delivered', reason: null } as const;
const failed = { status: 'failed', reason: 'bounced' } as const;

/** The progress, the events, the request and an earlier report of success; and the report that follows. */
const NEWS: readonly (readonly [
  Parameters<typeof newsOf>[0],
  readonly ReportedEvent[],
  Parameters<typeof newsOf>[2],
  boolean,
  Partial<News> | 'ended' | null,
])[] = [
  [wait, [], ['SUCCESS', 'FAILURE'], false, null],
  [taken, [sent], ['SUCCESS'], false, null],
  [taken, [unreported], ['SUCCESS'], false, { action: 'relayed', status: '2.0.0' }],
  [taken, [unreported], ['FAILURE'], false, null],
  [taken, [unreported], ['SUCCESS', 'FAILURE'], true, null],
  [there, [sent, delivered], ['SUCCESS'], false, { action: 'delivered', remoteMta: 'mx.example' }],
  [there, [unreported, delivered], ['SUCCESS'], false, { action: 'relayed' }],
  [there, [sent, delivered], ['DELAY'], false, 'ended'],
  // A server may deliver, and send the mail back all the same.
  [there, [sent, delivered], ['FAILURE'], false, null],
  [failed, [bounced], ['FAILURE'], false, { action: 'failed', status: '5.1.1', isReply: true }],
  [failed, [sent, bounced], ['SUCCESS', 'FAILURE'], true, { action: 'failed' }],
  [failed, [bounced], ['SUCCESS'], false, 'ended'],
  [
    { status: 'failed', reason: 'expired' },
    [{ type: 'bounced', data: { message: 'Retries ran out.', enhancedCode: null, smtpCode: null } }],
    ['FAILURE'],
    false,
    { status: '5.4.7', isReply: false },
  ],
  [
    { status: 'failed', reason: 'suppressed' },
    [],
    ['FAILURE'],
    false,
    { status: '5.0.0', diagnostic: 'Nothing was sent: suppressed.' },
  ],
];

describe('what is reported of a recipient', () => {
  for (const [progress, events, notify, isTold, news] of NEWS)
    test(`${progress.status}, ${events.map(({ type }) => type).join(' ')}, asked ${notify.join(' ')}${isTold ? ', told' : ''}`, () => {
      const got = newsOf(progress, events, notify, isTold);
      if (news === null || news === 'ended') expect(got).toBe(news);
      else expect(got).toMatchObject(news);
    });
});

const REPORT: StatusReport = {
  id: 'em_1.0.failed',
  domain: 'sender.example',
  to: 'shop@sender.example',
  envelopeId: null,
  date: Date.UTC(2026, 10, 20, 12),
  arrivedAt: Date.UTC(2026, 10, 20, 11),
  reportingMta: 'mx.test',
  action: 'failed',
  status: '5.1.1',
  recipient: 'ada@example.com',
  originalRecipient: null,
  remoteMta: 'mx.example',
  diagnostic: '550 5.1.1 No such user',
  isReply: true,
  returned: { isWhole: false, octets: Buffer.from('Subject: x\r\n') },
};
const statusOf = (raw: Buffer): string =>
  raw.toString().split('message/delivery-status\r\n\r\n')[1]?.split('\r\n--report')[0] ?? '';

describe('a report', () => {
  test('is one that a reader of reports understands', () => {
    const reference = { token: 't', emailId: null, providerId: null, messageId: null };
    expect(readDeliveryReport(statusOf(composeReport(REPORT)), reference)).toMatchObject([
      {
        kind: 'bounced',
        recipient: 'ada@example.com',
        enhancedCode: '5.1.1',
        smtpCode: 550,
        remoteMta: 'mx.example',
        permanent: true,
      },
    ]);
  });

  test('keeps its lines short and in ASCII, whatever a server has said', () => {
    for (const diagnostic of [
      'x'.repeat(5_000),
      'ä '.repeat(900),
      'a\r\nBcc: b@example.com\r\n\r\n--report-em_1.0.failed',
      '',
    ]) {
      const raw = composeReport({ ...REPORT, diagnostic }).toString('latin1');
      expect(raw.split('\r\n').every((line) => line.length <= 998)).toBe(true);
      expect(raw).not.toMatch(/\P{ASCII}/u);
      expect(raw.match(/^--report-em_1\.0\.failed(?:--)?\r$/gm)).toHaveLength(4);
      expect(raw).not.toMatch(/^Bcc:/m);
    }
  });

  test('writes an address beyond ASCII as RFC 6533 has it', () => {
    expect(statusOf(composeReport({ ...REPORT, recipient: 'zoë@example.com' }))).toContain(
      'Final-Recipient: utf-8; zo\\x{EB}@example.com',
    );
  });
});
