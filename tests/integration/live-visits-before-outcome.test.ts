import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// A recipient opens a message before the reply to it is committed here: a receiver is faster, or the instance
// has died.

const PERSON = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0';
/** Apple's relay, which loads the pictures of a message when it arrives. */
const RELAY = 'Mozilla/5.0';

let sink: Sink;
let service: LiveService;
let message = '';
let accept = (): void => {};

beforeAll(async () => {
  sink = await startSink({
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        accept = () => done();
        message = Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
      });
    },
  });
  service = await startLiveService({
    environment: { PUBLIC_URL: 'https://mail.sender.example' },
    transport: relayTo(sink.port, 600_000),
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const visitsOf = async (id: string): Promise<Email[]> =>
  (await service.live.get(`/v1/emails/${id}/events`)).body.data
    .filter(({ type }: Email) => type === 'opened' || type === 'clicked')
    .map(({ type, data }: Email) => [type, data.via]);

test('visits that come before the outcome of the attempt count once it is there', async () => {
  const html = '<body><a href="https://a.example/">a</a> <a href="https://b.example/">b</a></body>';
  const id = await service.send({ html, text: undefined, trackOpens: true, trackClicks: true });
  await eventually('the message at the server', async () => message !== '' || undefined);
  const follow = async (
    letter: string,
    agent: string,
    more: Record<string, string> = {},
  ): Promise<number> => {
    const link = new RegExp(`https://mail\\.sender\\.example/t/${letter}/[\\w.-]+`).exec(message)?.[0] ?? '';
    const headers = { 'user-agent': agent, ...more };
    return (await fetch(`${service.url}${new URL(link).pathname}`, { headers, redirect: 'manual' })).status;
  };
  expect(await follow('o', RELAY)).toBe(200);
  expect(await follow('o', PERSON, { 'sec-purpose': 'prefetch' })).toBe(200);
  expect(await follow('c', PERSON)).toBe(302);
  await service.pass(10_000);
  await eventually('a look at them', async () => {
    const [row] = await service.service.database.query('select from early_visits where claimed_at is null');
    return row ? undefined : true;
  });
  expect(await visitsOf(id)).toEqual([]);

  accept();
  await service.until(id, ({ status }) => status === 'delivered' || status === 'sent');
  await service.pass(61_000);
  const visits = await eventually('both visits', async () => {
    const found = await visitsOf(id);
    return found.length > 1 ? found : undefined;
  });
  expect(visits).toEqual([
    ['opened', 'imageProxy'],
    ['clicked', null],
  ]);
});
