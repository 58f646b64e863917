import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sign } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { bounceOf } from '../../src/mail/inbound/diagnosis.ts';
import type { Fact } from '../../src/mail/inbound/feedback.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { feedbackRecorder } from '../../src/sending/emails/feedback/record-feedback.ts';
import { returnToken } from '../../src/sending/emails/send/return-token.ts';
import { sesRoutes } from '../../src/sending/ses/routes.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { arf, dsn } from '../unit/transport/reports.ts';
import { CERTIFICATE, PRIVATE_KEY } from './transport/certificates.ts';
import { DROP, startScriptedSmtp } from './transport/scripted-smtp.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let sink: Sink;
let service: LiveService;
let inbound: number;

beforeAll(async () => {
  sink = await startSink();
  inbound = await freePort();
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { INBOUND_SMTP_PORT: String(inbound) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const leaveByMail = async (): Promise<boolean> => true;

/** An email that was accepted by the relay, and the return path of each of its copies. */
async function sent(
  to: readonly string[],
): Promise<{ readonly id: string; readonly paths: readonly string[] }> {
  const id = await service.send({ to });
  await service.until(id, ({ status }) => status === 'sent');
  const copies = sink.received.filter(({ raw }) => raw.includes(id));
  return { id, paths: to.map((one) => copies.find((copy) => copy.to[0] === one)?.from ?? '') };
}

/** Hands a report in as a mail server would; the reply. */
async function report(to: string, raw: Buffer): Promise<string> {
  const door = createTransport({ host: '127.0.0.1', port: inbound, ignoreTLS: true });
  try {
    return (await door.sendMail({ envelope: { from: '', to }, raw })).response;
  } catch (error) {
    return (error as Error & { response: string }).response;
  } finally {
    door.close();
  }
}

const failure = (status: string, diagnostic: string): Buffer =>
  dsn({
    status: `Reporting-MTA: dns; mx.receiver.example\n\nAction: failed\nStatus: ${status}\nRemote-MTA: dns; mx.elsewhere.example\nDiagnostic-Code: smtp; ${diagnostic}\n`,
  });

const suppressed = async (address: string): Promise<Email> =>
  (await service.live.get(`/v1/suppressions?address=${address}`)).body.data[0];

describe('a bounce that comes back by mail', () => {
  test('finds its recipient by the address that it is sent to, fails it and suppresses it', async () => {
    const { id, paths } = await sent(['ada@example.com', 'bob@example.com']);
    expect(await report(paths[1] as string, failure('5.1.1', '550 5.1.1 no such user'))).toStartWith('250');
    const email = (await service.live.get(`/v1/emails/${id}`)).body.data;
    expect([email.status, email.recipients[0].status, email.recipients[1].status]).toEqual([
      'sent',
      'sent',
      'failed',
    ]);
    expect(email.events.at(-1)).toMatchObject({
      type: 'bounced',
      recipient: 'bob@example.com',
      data: {
        type: 'Permanent',
        subType: 'NoEmail',
        smtpCode: 550,
        enhancedCode: '5.1.1',
        message: '550 5.1.1 no such user',
        remoteMta: 'mx.elsewhere.example',
      },
    });
    expect(await suppressed('bob@example.com')).toMatchObject({ reason: 'bounced', emailId: id });
    expect(await suppressed('ada@example.com')).toBeUndefined();
  });

  test('suppresses in whatever form it names the delimiter of its parts', async () => {
    const forms = [
      "boundary*=us-ascii''B%2F1",
      'boundary*1=/1; boundary*0=B',
      'boundary="B/1',
      '(; boundary=zz) boundary="B/1"',
      'boundary=zz',
    ];
    for (const [at, form] of forms.entries()) {
      const address = `form-${at}@example.com`;
      const { id, paths } = await sent([address]);
      const usual = failure('5.1.1', '550 5.1.1 no such user').toString('latin1');
      const raw = Buffer.from(usual.replace('boundary="B/1"', form), 'latin1');
      expect(await report(paths[0] as string, raw)).toStartWith('250');
      expect(await suppressed(address)).toMatchObject({ reason: 'bounced', emailId: id });
    }
  });

  test('is taken whatever octets it is written in', async () => {
    const { id, paths } = await sent(['nul@example.com']);
    const said = `550 5.1.1 no \0 such user 😀`;
    expect(await report(paths[0] as string, failure('5.1.1', said))).toStartWith('250');
    const { events } = (await service.live.get(`/v1/emails/${id}`)).body.data;
    expect(events.at(-1).data.message).toBe('550 5.1.1 no \uFFFD such user 😀');
    expect(await suppressed('nul@example.com')).toMatchObject({ reason: 'bounced', emailId: id });
  });

  test('is counted once however often it is delivered', async () => {
    const { id, paths } = await sent(['carol@example.com']);
    for (let n = 0; n < 3; n++)
      expect(await report(paths[0] as string, failure('4.4.7', '451 4.4.7 gave up'))).toStartWith('250');
    const email = (await service.live.get(`/v1/emails/${id}`)).body.data;
    expect([email.status, email.failureReason, email.events.map(({ type }: Email) => type)]).toEqual([
      'failed',
      'expired',
      ['sent', 'bounced'],
    ]);
    expect(email.events[1].data).toMatchObject({ type: 'Transient', subType: 'expired' });
    expect(await suppressed('carol@example.com')).toBeUndefined();
  });

  test('whose cause is the infrastructure fails the email and suppresses no address', async () => {
    const { id, paths } = await sent(['dave@example.com']);
    await report(paths[0] as string, failure('5.7.1', '550 5.7.1 listed by a blocklist'));
    expect((await service.live.get(`/v1/emails/${id}`)).body.data.status).toBe('failed');
    expect(await suppressed('dave@example.com')).toBeUndefined();
  });

  test('to an address that was not signed here is refused at the door', async () => {
    const { id, paths } = await sent(['eve@example.com']);
    const forged = (paths[0] as string).replace(/\.0\.(.)/, (_, first) => `.0.${first === 'a' ? 'b' : 'a'}`);
    expect(await report(forged, failure('5.1.1', '550 5.1.1 no such user'))).toStartWith('550');
    expect(await report('anybody@sender.example', failure('5.1.1', '550 no'))).toStartWith('550');
    expect((await service.live.get(`/v1/emails/${id}`)).body.data.events).toHaveLength(1);
  });

  test('survives servers that change the case of addresses', async () => {
    const { id, paths } = await sent(['frank@example.com']);
    await report((paths[0] as string).toUpperCase(), failure('5.1.1', '550 5.1.1 unknown'));
    expect((await service.live.get(`/v1/emails/${id}`)).body.data.status).toBe('failed');
  });
});

test('a complaint is recorded once and suppresses the recipient who complained', async () => {
  const { id, paths } = await sent(['grace@example.com']);
  const complaint = arf(
    `Feedback-Type: abuse\nUser-Agent: FBL/1.0\nVersion: 1\nOriginal-Mail-From: <${paths[0]}>\n`,
  );
  for (let n = 0; n < 2; n++) expect(await report('abuse@sender.example', complaint)).toStartWith('250');
  const email = (await service.live.get(`/v1/emails/${id}`)).body.data;
  expect(email.events.map(({ type }: Email) => type)).toEqual(['sent', 'complained']);
  expect(email.events[1].data).toEqual({ feedbackType: 'abuse', userAgent: 'FBL/1.0' });
  expect(await suppressed('grace@example.com')).toMatchObject({ reason: 'complained', emailId: id });
});

test('of what a report says no more is kept than a thousand characters, and none of them halved', async () => {
  const { id, paths } = await sent(['long@example.com']);
  const complaint = arf(
    `Feedback-Type: abuse\nUser-Agent: a${'😀'.repeat(800)}\nVersion: 1\nOriginal-Mail-From: <${paths[0]}>\n`,
  );
  expect(await report('abuse@sender.example', complaint)).toStartWith('250');
  const { events } = (await service.live.get(`/v1/emails/${id}`)).body.data;
  expect(events.at(-1).data.userAgent).toBe(`a${'😀'.repeat(499)}`);
});

describe('a report about an email that has failed', () => {
  const bounce = (diagnostic: string): Fact => bounceOf({ status: null, diagnostic, remoteMta: null });
  const complaint: Fact = { kind: 'complained', feedbackType: 'abuse', userAgent: null };

  test('as expired, since it was unknown that it had arrived, suppresses addresses that it proves dead or annoyed', async () => {
    await using vague = await startScriptedSmtp({ dot: DROP });
    const transport = relayTo(vague.port);
    await using held = await startLiveService({ transport, environment: { UNKNOWN_OUTCOME: 'hold' } });
    const { database, engine } = held.service;
    const clock = { now: Date.now, monotonic: () => performance.now() };
    const record = feedbackRecorder({ database, engine, clock, signer: held.signer, leaveByMail });
    const to = ['gone@example.com', 'annoyed@example.com', 'listed@example.com', 'quiet@example.com'];
    const id = await held.send({ to });
    await held.until(id, ({ status }) => status === 'deferred');
    await held.pass(80 * 3_600_000);
    await held.until(id, ({ status }) => status === 'failed');
    const reports = [bounce('550 5.1.1 no such user'), complaint, bounce('550 5.7.1 listed')];
    for (const [recipient, fact] of reports.entries()) {
      const token = returnToken({ emailId: id, recipient }, held.signer);
      const reference = { token, emailId: null, providerId: null, messageId: null };
      await record([{ ...fact, reference, recipient: null }], false);
    }
    const { data } = (await held.live.get('/v1/suppressions')).body;
    expect(data.map(({ address, reason, emailId }: Email) => [address, reason, emailId]).sort()).toEqual([
      ['annoyed@example.com', 'complained', id],
      ['gone@example.com', 'bounced', id],
    ]);
    expect((await held.live.get(`/v1/emails/${id}`)).body.data.status).toBe('failed');
  });

  test('as it said before, changes nothing, even what was changed by hand since', async () => {
    const { paths } = await sent(['mallory@example.com']);
    const again = () => report(paths[0] as string, failure('5.1.1', '550 5.1.1 no such user'));
    await again();
    expect((await service.live.delete('/v1/suppressions/mallory%40example.com')).status).toBe(204);
    expect(await again()).toStartWith('250');
    expect(await suppressed('mallory@example.com')).toBeUndefined();
  });
});

describe('a notification of Amazon SES', () => {
  const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:ses';
  const notification = (message: object, topic = TOPIC): Buffer => {
    const fields: Record<string, string> = {
      Message: JSON.stringify(message),
      MessageId: 'm-1',
      Timestamp: new Date().toISOString(),
      TopicArn: topic,
      Type: 'Notification',
    };
    const text = ['Message', 'MessageId', 'Timestamp', 'TopicArn', 'Type'].map(
      (name) => `${name}\n${fields[name]}\n`,
    );
    const signature = sign('sha256', Buffer.from(text.join('')), PRIVATE_KEY).toString('base64');
    return Buffer.from(
      JSON.stringify({
        ...fields,
        SignatureVersion: '2',
        Signature: signature,
        SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem',
      }),
    );
  };
  const tell = async (body: Uint8Array): Promise<Email> => {
    const { database, engine } = service.service;
    const clock = { now: Date.now, monotonic: () => performance.now() };
    const [route] = sesRoutes({
      sesTopicArn: TOPIC,
      inboundTopics: [],
      takeSes: async () => 'skipped',
      fetchCertificate: async () => CERTIFICATE,
      confirm: async () => {},
      recordFeedback: feedbackRecorder({ database, engine, clock, signer: service.signer, leaveByMail }),
      log: { warn() {}, error() {} },
    });
    return route?.handle({ body, now: Date.now() } as never);
  };
  const delivery = (emailId: string, recipient: string): object => ({
    eventType: 'Delivery',
    mail: { messageId: 'ses-1', tags: { emailId: [emailId] } },
    delivery: { recipients: [recipient], smtpResponse: '250 ok' },
  });

  test('is believed with its signature, and means the recipient that it names', async () => {
    const { id } = await sent(['heidi@example.com', 'ivan@example.com']);
    await tell(notification(delivery(id, 'IVAN@example.com')));
    await tell(notification(delivery(id, 'IVAN@example.com')));
    const email = (await service.live.get(`/v1/emails/${id}`)).body.data;
    expect(email.recipients.map(({ status }: Email) => status)).toEqual(['sent', 'delivered']);
    expect(email.events.filter(({ type }: Email) => type === 'delivered')).toHaveLength(1);
  });

  test('that comes again changes nothing, even what was changed by hand since', async () => {
    const { id } = await sent(['kim@example.com']);
    const complaint = notification({
      eventType: 'Complaint',
      mail: { messageId: 'ses-2', tags: { emailId: [id] } },
      complaint: {
        complaintFeedbackType: 'abuse',
        complainedRecipients: [{ emailAddress: 'kim@example.com' }],
      },
    });
    await tell(complaint);
    expect(await suppressed('kim@example.com')).toMatchObject({ reason: 'complained' });
    const lifted = await service.live.delete('/v1/suppressions/kim%40example.com');
    expect(lifted.status).toBe(204);
    await tell(complaint);
    expect(await suppressed('kim@example.com')).toBeUndefined();
    const { events } = (await service.live.get(`/v1/emails/${id}`)).body.data;
    expect(events.map(({ type }: Email) => type)).toEqual(['sent', 'complained']);
  });

  test('of another topic, or changed on its way, is refused', async () => {
    const { id } = await sent(['judy@example.com']);
    const foreign = notification(delivery(id, 'judy@example.com'), 'arn:aws:sns:eu-west-1:999999999999:evil');
    const changed = Buffer.from(
      notification(delivery('em_0', 'judy@example.com')).toString().replace('em_0', id),
    );
    for (const body of [foreign, changed, Buffer.from('{}'), Buffer.from('not json')])
      expect((await tell(body)).code).toBe('FORBIDDEN');
    expect((await service.live.get(`/v1/emails/${id}`)).body.data.status).toBe('sent');
  });

  test('is not taken at all without a topic', async () => {
    const response = await fetch(`${service.url}/callbacks/ses`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=UTF-8' },
      body: '{}',
    });
    expect(response.status).toBe(404);
  });
});
