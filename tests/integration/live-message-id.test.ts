import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

let service: LiveService;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  service = await startLiveService({ transport: relayTo(sink.port) });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const BODY = { from: 'shop@sender.example', to: 'ada@example.com', subject: 'Hello', text: 'Hello.' };
const post = (more: object, headers: Record<string, string> = {}) =>
  service.live.post('/v1/emails', { ...BODY, ...more }, headers);
const messageIdAt = (id: string): string =>
  sink.received
    .map(({ raw }) => raw.toString())
    .find((raw) => raw.includes(id))
    ?.match(/^Message-ID: (.*)\r$/im)?.[1] ?? '';

test('an email leaves with the Message-ID that was asked for, and is shown with it', async () => {
  const id = await service.send({ messageId: 'order-1@Sender.example' });
  const email = await service.until(id, ({ status }) => status === 'sent');
  expect(email.messageId).toBe('<order-1@sender.example>');
  expect(messageIdAt('order-1@')).toBe('<order-1@sender.example>');
});

test('a Message-ID is taken for ninety days, in one environment, and given to one of those that ask at once', async () => {
  const messageId = '<order-2@sender.example>';
  const answers = await Promise.all(Array.from({ length: 8 }, () => post({ messageId })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array(7).fill(409)]);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body.error).toMatchObject({ code: 'CONFLICT' });
  expect(refused?.body.error.message).toContain(messageId);
  expect((await service.test.post('/v1/emails', { ...BODY, messageId })).status).toBe(202);
  const DAY_MS = 86_400_000;
  await service.pass(90 * DAY_MS - 60_000);
  expect((await post({ messageId })).status).toBe(409);
  await service.pass(120_000);
  expect((await post({ messageId })).status).toBe(202);
  expect((await post({ messageId })).status).toBe(409);
});

test('the same request with the same Idempotency-Key is answered as before', async () => {
  const more = { messageId: '<order-3@sender.example>' };
  const headers = { 'idempotency-key': 'order-3' };
  const first = await post(more, headers);
  expect(first.status).toBe(202);
  expect((await post(more, headers)).body.data.id).toBe(first.body.data.id);
});

test('a refused email takes no Message-ID', async () => {
  const messageId = '<order-4@sender.example>';
  expect((await post({ messageId, to: 'nobody' })).status).toBe(422);
  expect((await post({ messageId, from: 'shop@elsewhere.example' })).status).toBe(422);
  expect((await post({ messageId })).status).toBe(202);
});

test('a Message-ID elsewhere than at the domain of the sender is refused', async () => {
  for (const host of ['other.example', 'mail.sender.example', 'example']) {
    const { status, body } = await post({ messageId: `<x@${host}>` });
    expect([host, status, body.error.details[0].path]).toEqual([host, 422, '/body/messageId']);
  }
});

test('in a batch each email has its own, and one of two is refused', async () => {
  const [first, second, third] = ['5', '5', '6'].map((n) => ({
    ...BODY,
    messageId: `<order-${n}@sender.example>`,
  }));
  const { status, body } = await service.live.post('/v1/emails/batch', { emails: [first, second, third] });
  expect(status).toBe(202);
  const outcomes = body.data.map(
    (item: { id?: string; error?: { code: string } }) => item.error?.code ?? 'ok',
  );
  // The emails of a batch are prepared side by side, so that either of the two may come first.
  expect([outcomes.slice(0, 2).toSorted(), outcomes[2]]).toEqual([['CONFLICT', 'ok'], 'ok']);
});

test('an email of a file alone, and one of a calendar, leave and are shown', async () => {
  const content = [
    'BEGIN:VCALENDAR',
    'METHOD:CANCEL',
    'BEGIN:VEVENT',
    'UID:1',
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\n');
  const calendar = { method: 'CANCEL', content };
  const scan = await service.send({
    text: undefined,
    attachments: [{ filename: 'scan.pdf', content: 'AAECAw==' }],
  });
  const off = await service.send({ text: undefined, calendar });
  const shown = await service.until(scan, ({ status }) => status === 'sent');
  expect([shown.text, shown.html, shown.calendar]).toEqual([null, null, null]);
  expect((await service.until(off, ({ status }) => status === 'sent')).calendar).toEqual(calendar);
  const raw = sink.received.find((one) => one.raw.includes(off))?.raw.toString() ?? '';
  expect(raw).toMatch(/^Content-Type: text\/calendar; charset=utf-8; method=CANCEL\r$/m);
  expect(Buffer.from(raw.split('\r\n\r\n')[1] ?? '', 'base64').toString()).toBe(
    content.replaceAll('\n', '\r\n'),
  );
});
