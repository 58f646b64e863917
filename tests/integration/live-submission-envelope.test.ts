import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let service: LiveService;
let sink: Sink;
let port: number;

beforeAll(async () => {
  port = await freePort();
  sink = await startSink({ hideDSN: false });
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { SUBMISSION_PORT: String(port) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

/** Hands a mail in by SMTP, and waits until it has left. */
const handIn = async (mail: object) => {
  const client = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    auth: { user: 'svc', pass: service.keys.live },
  });
  const before = sink.received.length;
  const { response } = await client.sendMail({
    from: 'Shop <shop@sender.example>',
    to: 'ada@example.com',
    subject: 'x',
    text: 'x',
    ...mail,
  });
  client.close();
  const id = /em_\w+/.exec(response)?.[0] ?? response;
  await service.until(id, ({ status }) => status === 'sent');
  return sink.received.slice(before).filter(({ raw }) => !raw.includes('report.'));
};

test('what an SMTP client asks of reports is asked of the next server, for each recipient', async () => {
  const received = await handIn({
    to: 'ada@example.com',
    bcc: 'Bob@Example.com',
    dsn: { id: 'order 7', return: 'headers', notify: ['success', 'failure'], recipient: 'ada+x@example.com' },
  });
  expect(received.map(({ to, parameters }) => [to, parameters]).toSorted()).toEqual([
    [
      ['Bob@example.com'],
      ['ENVID=order 7 RET=HDRS', 'NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ada+x@example.com'],
    ],
    [
      ['ada@example.com'],
      ['ENVID=order 7 RET=HDRS', 'NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ada+x@example.com'],
    ],
  ]);
  for (const { from } of received) expect(from).toMatch(/^b\+/);
});

test('NOTIFY=NEVER is passed on', async () => {
  const [received] = await handIn({ dsn: { notify: 'never' } });
  expect(received?.parameters).toEqual(['', 'NOTIFY=NEVER']);
});

test('a mail with a null sender leaves with one', async () => {
  const [received] = await handIn({ envelope: { from: '', to: ['ada@example.com'] } });
  expect([received?.from, received?.parameters]).toEqual(['', ['', '']]);
});

test('where nothing is asked, nothing is passed on', async () => {
  const [received] = await handIn({});
  expect(received?.parameters).toEqual(['', '']);
  expect(received?.from).toMatch(/^b\+/);
});
