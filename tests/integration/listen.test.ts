import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyWebhook } from '../../src/web/client/posthorn.ts';
import { createClient } from '../support/client.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { COMMAND, LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';

const EMAIL = { from: 'Acme <hello@acme.example>', subject: 'Hello', text: 'Hi' };
const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-listen-'));
const received: { id: string; type: string; status: number }[] = [];
let service: Service;
let secret: string;
let answer = 200;

const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const payload = new Uint8Array(await request.arrayBuffer());
    const signature = request.headers.get('x-svc-signature');
    // A wrong signature throws: the answer is 500, and nothing counts as received.
    const event = await verifyWebhook({ payload, signature, secret });
    expect(request.headers.get('x-svc-webhook-id')).toBe('wh_listen');
    expect(request.headers.get('content-type')).toBe('application/json');
    received.push({ id: event.id, type: event.type, status: answer });
    return new Response('', { status: answer });
  },
});

const send = async (to = 'delivered') => {
  const { body } = await createClient(service.url, TEST_KEY).post('/v1/emails', {
    ...EMAIL,
    to: `${to}@simulator.svc.test`,
  });
  return body.data.id as string;
};

function listening(...words: string[]) {
  const child = Bun.spawn(
    [...COMMAND, 'listen', '--forward-to', `127.0.0.1:${receiver.port}/hooks`, ...words],
    {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { PATH: process.env.PATH ?? '', POSTHORN_URL: service.url, POSTHORN_API_KEY: TEST_KEY },
    },
  );
  const said = { out: '', error: '' };
  const collect = async (stream: ReadableStream<Uint8Array>, name: 'out' | 'error') => {
    for await (const piece of stream) said[name] += Buffer.from(piece).toString();
  };
  void collect(child.stdout, 'out');
  void collect(child.stderr, 'error');
  const heard = (text: string, where: 'out' | 'error' = 'error') =>
    eventually(`it says ${text}`, async () => said[where].includes(text) || undefined);
  return { child, said, heard };
}

beforeAll(async () => {
  service = await startService({ dataDir, env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0' } });
  const printed = await command({}, 'listen', '--print-secret', '--key', TEST_KEY);
  secret = printed.out.trim();
  expect(secret).toMatch(/^whsec_[\w-]{43}$/);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await receiver.stop(true);
  rmSync(dataDir, { recursive: true, force: true });
});

test('posthorn listen posts what happens from now on, signed, over an outage of the service, and ends by a signal', async () => {
  const before = await send();
  await eventually('the earlier email is delivered', async () => {
    const { body } = await createClient(service.url, TEST_KEY).get(`/v1/emails/${before}`);
    return body.data.status === 'delivered' || undefined;
  });
  const { child, said, heard } = listening();
  await heard(secret);
  await send();
  await eventually('both events', async () => received.length >= 2 || undefined);
  expect(received.map(({ type }) => type)).toEqual(['sent', 'delivered']);
  await heard('✓ delivered', 'out');

  answer = 500;
  await send('bounced');
  await heard('✗ bounced', 'out');
  answer = 200;

  const { port } = service;
  await service.stop();
  await heard('Trying again');
  service = await startService({ dataDir, port, env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0' } });
  await send('complained');
  await eventually(
    'the events after the outage',
    async () => received.some(({ type }) => type === 'complained') || undefined,
  );
  expect(new Set(received.map(({ id }) => id)).size).toBe(received.length);

  child.kill('SIGINT');
  expect(await child.exited).toBe(0);
  expect(said.out).not.toContain(TEST_KEY);
});

test('posthorn listen posts only the types that are asked for', async () => {
  received.length = 0;
  const { child, heard } = listening('--events', 'clicked,complained');
  await heard(secret);
  await send('complained');
  await send('clicked');
  await eventually('both', async () => received.length >= 2 || undefined);
  expect(received.map(({ type }) => type).sort()).toEqual(['clicked', 'complained']);
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
});

test('posthorn listen says what is missing or refused', async () => {
  const to = ['--forward-to', 'http://127.0.0.1:1/'];
  const cases: [string[], number, string][] = [
    [to, 2, 'An API key with emails:read is needed'],
    [['--key', TEST_KEY], 2, '--forward-to must be an address'],
    [['--key', TEST_KEY, '--forward-to', 'ftp://a'], 2, '--forward-to must be an address'],
    [['--key', TEST_KEY, ...to, '--url', 'mail'], 2, '--url must be an address such as'],
    [['--key', TEST_KEY, ...to, '--events', 'opened,gone'], 2, 'Allowed are sent, delivered'],
    [['--key', 'svc_test_wrong', ...to, '--url', service.url], 1, 'API key'],
  ];
  for (const [words, code, sentence] of cases) {
    const ended = await command({}, 'listen', ...words);
    expect([words, ended.code, ended.error]).toEqual([words, code, expect.stringContaining(sentence)]);
  }
});

test('posthorn listen posts received mail as the webhook of a route', async () => {
  const live = createClient(service.url, LIVE_KEY);
  const client = createClient(service.url, TEST_KEY);
  const { id: domainId } = (await live.post('/v1/domains', { name: 'listened.example' })).body.data;
  const match = { type: 'exact', localPart: 'support' };
  await client.post('/v1/inbound-routes', { domainId, match, action: { type: 'keep' } });
  const message = { from: 'ada@customer.example', to: 'support@listened.example', text: 'Hello' };
  await client.post('/v1/received/test', { ...message, subject: 'before' });
  const { child, said, heard } = listening();
  await heard(secret);
  received.length = 0;
  // The listener takes what is there at its first look as known.
  const { id } = await eventually('a message is posted', async () => {
    const { body } = await client.post('/v1/received/test', { ...message, subject: crypto.randomUUID() });
    return received.some(({ type }) => type === 'received') ? body.data : undefined;
  });
  expect(id).toStartWith('rcv_');
  await heard('✓ received', 'out');
  expect(said.out).toContain('support@listened.example');
  child.kill();
  expect(await child.exited).toBe(0);
});
