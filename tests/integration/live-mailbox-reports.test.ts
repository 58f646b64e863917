import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { generateDkimKey } from '../../src/mail/dkim/key-pair.ts';
import { signMessage } from '../../src/mail/dkim/sign.ts';
import { loadSigningKey, type SigningKey } from '../../src/mail/dkim/signing-key.ts';
import { returnPathFor } from '../../src/mail/inbound/verp.ts';
import { returnToken } from '../../src/sending/emails/send/return-token.ts';
import { leaveAddress } from '../../src/sending/tracking/api.ts';
import { cyrusMissing, startCyrus } from '../support/cyrus.ts';
import { dovecotMissing, startDovecot } from '../support/dovecot.ts';
import { eventually } from '../support/eventually.ts';
import { type ImapServer, PASSWORD } from '../support/imap-server.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { dmarcXml, mailWith, record, tlsJson } from '../unit/aggregate-reports/forms.ts';
import { arf } from '../unit/transport/reports.ts';
import { aMail } from './received-door.ts';
import { startNameServer, type TestNameServer, txt } from './transport/name-server.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// Reports in the mailbox of a real server.

const missing = [dovecotMissing(), cyrusMissing()];
if (!missing.includes(null))
  console.log(`Not shown here, since ${missing.join(', and ')}: reports in mailboxes.`);

describe.if(missing.includes(null))('a mailbox that is read by IMAP', () => {
  let server: ImapServer;
  let service: LiveService;
  let sink: Sink;
  let dns: TestNameServer;
  let key: SigningKey;
  let id: string;

  beforeAll(async () => {
    const pair = await generateDkimKey('rsa-sha256');
    key = loadSigningKey({ domain: 'reader.example', selector: 's1', pem: pair.privateKey });
    dns = await startNameServer({
      's1._domainkey.reader.example TXT': [txt(...(pair.dnsValue.match(/.{1,255}/g) ?? []))],
    });
    server = await (missing[0] === null ? startDovecot : startCyrus)(['reports']);
    sink = await startSink();
    const DNS_SERVERS = `127.0.0.1:${dns.server.port}`;
    const environment = { TLS_CA_FILE: server.ca, HOST: '127.0.0.1', DNS_SERVERS };
    service = await startLiveService({ environment, transport: relayTo(sink.port) });
    const settings = { host: 'localhost', port: server.tlsPort, username: 'reports', password: PASSWORD };
    id = (await service.live.post('/v1/mailboxes', settings)).body.data.id;
    await eventually('the mailbox is read', async () =>
      (await mailbox()).status === 'connected' ? true : undefined,
    );
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await dns[Symbol.asyncDispose]();
  });

  const mailbox = async (): Promise<Email> => (await service.live.get(`/v1/mailboxes/${id}`)).body.data;
  const sums = async (): Promise<Email> =>
    (await service.live.get(`/v1/domains/${service.domainId}/reports`)).body.data;

  /** Puts a message into the mailbox, and waits until it was read; how it ended. */
  async function read(raw: Buffer): Promise<'taken' | 'skipped'> {
    const before = await mailbox();
    await server.append('reports', [raw]);
    const after = await eventually('the message is read', async () => {
      const now = await mailbox();
      return now.taken + now.skipped > before.taken + before.skipped ? now : undefined;
    });
    return after.taken > before.taken ? 'taken' : 'skipped';
  }

  const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

  /** A mail with that file to an address for reports. */
  const mail = (file: Uint8Array, to: string): Buffer =>
    Buffer.from(mailWith(file).toString().replace('dmarc@send.shop.example', to));
  const signed = (raw: Buffer): Promise<Buffer> => signMessage(raw, [key], Date.now());

  const dmarc = (count: string, reportId: string): Uint8Array =>
    gzipSync(
      dmarcXml([record({ source: '192.0.2.1', count, from: 'sender.example' })], {
        id: reportId,
        domain: 'sender.example',
        begin: Date.parse(YESTERDAY) / 1_000,
      }),
    );
  const tls = (successful: number): Uint8Array =>
    gzipSync(
      tlsJson({
        'date-range': {
          'start-datetime': `${YESTERDAY}T00:00:00Z`,
          'end-datetime': `${YESTERDAY}T23:59:59Z`,
        },
        policies: [
          {
            policy: { 'policy-type': 'sts', 'policy-domain': 'sender.example' },
            summary: { 'total-successful-session-count': successful, 'total-failure-session-count': 0 },
          },
        ],
      }),
    );

  test('has complaints, which count for their emails and suppress the recipient', async () => {
    const email = await service.send({ to: 'grace@receiver.example' });
    await service.until(email, ({ status }) => status === 'sent');
    const path = returnPathFor(
      returnToken({ emailId: email, recipient: 0 }, service.signer),
      'sender.example',
    );
    const fields = `Feedback-Type: abuse\nUser-Agent: FBL/1.0\nVersion: 1\nOriginal-Mail-From: <${path}>\n`;
    expect(await read(arf(fields))).toBe('taken');
    const { events } = (await service.live.get(`/v1/emails/${email}`)).body.data;
    expect(events.at(-1)).toMatchObject({ type: 'complained', data: { feedbackType: 'abuse' } });
    const { data } = (await service.live.get('/v1/suppressions?address=grace@receiver.example')).body;
    expect(data[0]).toMatchObject({ reason: 'complained', emailId: email });
  });

  test('has mail to the address of List-Unsubscribe, which unsubscribes', async () => {
    const email = await service.send({ to: 'heidi@receiver.example' });
    await service.until(email, ({ status }) => status === 'sent');
    const to = leaveAddress({ emailId: email, recipient: 0 }, 'sender.example', service.signer);
    // As Apple Mail writes it.
    const written = { To: to, Subject: 'unsubscribe', 'Auto-Submitted': 'auto-replied' };
    expect(await read(Buffer.from(aMail(written)))).toBe('taken');
    const { events } = (await service.live.get(`/v1/emails/${email}`)).body.data;
    expect(events.at(-1)).toMatchObject({ type: 'unsubscribed', data: { source: 'oneClick' } });
  });

  test('has forged complaints, which count for nothing', async () => {
    const email = await service.send({ to: 'eve@receiver.example' });
    await service.until(email, ({ status }) => status === 'sent');
    const fields = `Feedback-Type: abuse\nUser-Agent: FBL/1.0\nVersion: 1\nOriginal-Mail-From: <${email}@sender.example>\n`;
    await read(arf(fields));
    const { events } = (await service.live.get(`/v1/emails/${email}`)).body.data;
    expect(events.map(({ type }: Email) => type)).toEqual(['sent']);
  });

  test('has DMARC reports, which count once where a signature proves their sender', async () => {
    const raw = await signed(mail(dmarc('7', 'mailbox-1'), 'dmarc@sender.example'));
    expect(await read(raw)).toBe('taken');
    expect((await sums()).dmarc).toMatchObject({ reports: 1, totals: { messages: 7 } });
    const again = await signed(mail(dmarc('7', 'mailbox-1'), 'DMARC@send.sender.example'));
    expect(await read(again)).toBe('taken');
    expect((await sums()).dmarc).toMatchObject({ reports: 1, totals: { messages: 7 } });
    const { unverified } = await sums();
    expect(await read(mail(dmarc('50', 'mailbox-2'), 'dmarc@sender.example'))).toBe('taken');
    expect(await sums()).toMatchObject({ unverified: unverified + 1, dmarc: { totals: { messages: 7 } } });
  });

  test('has TLS reports, which count once', async () => {
    const raw = await signed(mail(tls(40), 'tlsrpt@sender.example'));
    expect(await read(raw)).toBe('taken');
    expect((await sums()).tls).toMatchObject({ successful: 40, failed: 0 });
  });

  test('skips a report for a domain of no one', async () => {
    const raw = await signed(mail(dmarc('1', 'mailbox-3'), 'dmarc@elsewhere.example'));
    expect(await read(raw)).toBe('skipped');
  });
});
