import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { REPORTS } from '../support/reports-of-servers.ts';
import { FORMS } from '../unit/transport/report-forms.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let sink: Sink;
let service: LiveService;
let inbound: number;
let metrics: number;

beforeAll(async () => {
  sink = await startSink();
  inbound = await freePort();
  metrics = await freePort();
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { INBOUND_SMTP_PORT: String(inbound), METRICS_PORT: String(metrics) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

/** Sends an email to an address and hands in the report that came back for it; the email afterwards. */
async function reported(to: string, raw: Buffer, from = ''): Promise<Email> {
  const id = await service.send({ to: [to] });
  await service.until(id, ({ status }) => status === 'sent');
  const path = sink.received.find((one) => one.raw.includes(id))?.from ?? '';
  const door = createTransport({ host: '127.0.0.1', port: inbound, ignoreTLS: true });
  await door.sendMail({ envelope: { from, to: path }, raw });
  door.close();
  return (await service.live.get(`/v1/emails/${id}`)).body.data;
}

const ofServer = (file: string): Buffer => readFileSync(join(REPORTS, file));
const ofForm = (name: string): Buffer => Buffer.from((FORMS[name]?.[0] ?? '').replace(/\n/g, '\r\n'));
const isSuppressed = async (address: string): Promise<boolean> =>
  (await service.live.get(`/v1/suppressions?address=${address}`)).body.data.length > 0;

/** The outcome of an email: its status and reason, and the type and subType of its bounce. */
const endOf = ({ status, failureReason, events }: Email): readonly unknown[] => {
  const { type, data } = events.at(-1);
  return [status, failureReason, type, data.type, data.subType];
};

describe('a report of a real server', () => {
  const cases: readonly [file: string, to: string, end: readonly unknown[], suppressed: boolean][] = [
    [
      'opensmtpd-unknown.eml',
      'unknown@receiver.example',
      ['failed', 'bounced', 'bounced', 'Permanent', 'NoEmail'],
      true,
    ],
    [
      'opensmtpd-full.eml',
      'full@receiver.example',
      ['failed', 'bounced', 'bounced', 'Permanent', 'MailboxFull'],
      false,
    ],
    [
      'exim-nodomain.eml',
      'bob@nonexistent.example',
      ['failed', 'bounced', 'bounced', 'Permanent', 'DomainNotFound'],
      true,
    ],
    [
      'sendmail-vague.eml',
      'vague@receiver.example',
      ['failed', 'bounced', 'bounced', 'Permanent', 'General'],
      false,
    ],
    [
      'postfix-alias.eml',
      'team@example.com',
      ['failed', 'bounced', 'bounced', 'Permanent', 'NoEmail'],
      false,
    ],
    [
      'nullmailer-later.eml',
      'later@receiver.example',
      ['failed', 'expired', 'bounced', 'Transient', 'expired'],
      false,
    ],
    [
      'dma-plain.eml',
      'plain@receiver.example',
      ['failed', 'bounced', 'bounced', 'Permanent', 'NoEmail'],
      true,
    ],
  ];
  for (const [file, to, end, suppressed] of cases)
    test(`${file} ends the email as ${end[1]}, and ${suppressed ? 'suppresses the address' : 'suppresses no address'}`, async () => {
      expect(endOf(await reported(to, ofServer(file)))).toEqual(end);
      expect(await isSuppressed(to)).toBe(suppressed);
    });

  test('that mail is delayed leaves no trace', async () => {
    const email = await reported('waits@receiver.example', ofServer('opensmtpd-later.eml'));
    expect([email.status, email.events.map(({ type }: Email) => type)]).toEqual(['sent', ['sent']]);
  });
});

describe('a mail that comes back and is no report', () => {
  test('is shown by explain, once, and counted', async () => {
    const { id, status } = await reported('away@receiver.example', ofForm('vacation'));
    expect(status).toBe('sent');
    const { evidence } = (await service.live.get(`/v1/emails/${id}/explain`)).body.data;
    const told = evidence
      .map(({ text }: Email) => text)
      .filter((text: string) => text.includes('Out of office'));
    expect(told).toEqual([
      'A mail came back for away@receiver.example, and is no report that can be read: “Out of office: Your receipt”',
    ]);
    const page = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    expect(page).toMatch(/^posthorn_reports_total\{kind="unread"\} 1$/m);
  });

  test('is left alone when it has a sender', async () => {
    const { id } = await reported(
      'person@receiver.example',
      ofForm('a person who quotes a bounce'),
      'bob@receiver.example',
    );
    const { evidence } = (await service.live.get(`/v1/emails/${id}/explain`)).body.data;
    expect(evidence.map(({ text }: Email) => text).join()).not.toContain('came back');
  });
});
