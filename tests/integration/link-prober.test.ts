import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { createAddressGuard } from '../../src/sending/webhooks/http/address-guard.ts';
import { createProber } from '../../src/sending/webhooks/http/prober.ts';
import { livedMs } from '../support/own-time.ts';

const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'here.example': ['127.0.0.1'],
  'inside.example': ['10.0.0.7'],
  'both.example': ['127.0.0.1', '10.0.0.7'],
};
const resolve = async (name: string) => NAMES[name] ?? [];
const LOOPBACK = createAddressGuard({ allowPrivate: false, allowCidrs: ['127.0.0.0/8'] });
const PUBLIC = createAddressGuard({ allowPrivate: false, allowCidrs: [] });
const looked: string[] = [];
const proberOf = (guard = LOOPBACK, { privateNames = true, requestMs = 60_000 } = {}) =>
  createProber(
    {
      guard,
      privateNames,
      clock,
      ca: null,
      resolve: (name) => {
        looked.push(name);
        return resolve(name);
      },
    },
    { requestMs, linkMs: 60_000 },
  );
const workspaceId = 'ws_one';

let server: Server;
let port = 0;
const asked: string[] = [];
let heard = (): void => {};
const open = new Set<Socket>();
/** The answers by path; null is silence. */
const ANSWERS: Readonly<Record<string, string | null>> = {
  '/good': 'HTTP/1.1 200 OK\r\ncontent-type: Image/PNG; x=y\r\ncontent-length: 77\r\n\r\n',
  '/silent': null,
  '/drip': 'HTTP/1.1 200',
  '/nonsense': 'SSH-2.0-OpenSSH\r\n\r\n',
  '/endless-head': `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`,
  '/interim': `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(9)}HTTP/1.1 200 OK\r\n\r\n`,
  '/inside': 'HTTP/1.1 302 Found\r\nlocation: http://inside.example/\r\n\r\n',
  '/metadata': 'HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/latest\r\n\r\n',
  '/file': 'HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\n\r\n',
  '/only-get': 'HTTP/1.1 405 No\r\n\r\n',
  '/round': 'HTTP/1.1 302 Found\r\nlocation: /round\r\n\r\n',
};

beforeAll(async () => {
  server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    socket.on('data', (octets) => {
      const [method, path = ''] = octets.toString().split(' ');
      asked.push(`${method} ${path}`);
      heard();
      const answer = ANSWERS[path];
      if (typeof answer === 'string') socket.write(answer);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
afterAll(() => {
  for (const socket of open) socket.destroy();
  server.close();
});

const at = (path: string, host = 'here.example') => `http://${host}:${port}${path}`;
const probe = (path: string, host?: string) => proberOf().probe({ url: at(path, host), workspaceId });

test('the head of an answer is enough, and nothing after it is waited for', async () => {
  expect(await probe('/good#part')).toMatchObject({ status: 200, contentType: 'image/png', size: 77 });
  expect(asked).toEqual(['HEAD /good']);
});

test('an address that webhooks must not reach is not asked, directly, by name or by a redirect', async () => {
  const forbidden = { error: 'forbidden_address' } as const;
  const before = asked.length;
  expect(await proberOf(PUBLIC).probe({ url: at('/good', '127.0.0.1'), workspaceId })).toEqual(forbidden);
  expect(await proberOf(PUBLIC).probe({ url: at('/good'), workspaceId })).toEqual(forbidden);
  expect(await probe('/good', 'both.example')).toEqual(forbidden);
  expect(asked.length).toBe(before);
  expect(await probe('/inside')).toEqual(forbidden);
  expect(await probe('/metadata')).toEqual(forbidden);
  expect(await probe('/file')).toEqual({ error: 'malformed_answer' });
});

test('a server that is silent, endless or goes round is left within the limits', async () => {
  // Of these two nothing else tells than their time: what is answered has as long as it takes.
  const brief = proberOf(LOOPBACK, { requestMs: 250 });
  for (const path of ['/silent', '/drip'])
    expect(await brief.probe({ url: at(path), workspaceId })).toEqual({ error: 'timeout' });
  expect(await probe('/nonsense')).toEqual({ error: 'malformed_answer' });
  expect(await probe('/endless-head')).toEqual({ error: 'malformed_answer' });
  expect(await probe('/interim')).toEqual({ error: 'malformed_answer' });
  const before = asked.length;
  expect(await probe('/round')).toEqual({ error: 'too_many_redirects' });
  expect(asked.length - before).toBe(6);
  expect(await probe('/good', 'nowhere.example')).toEqual({ error: 'unresolved_host' });
});

test('a link with redirects takes no longer than its time, and none is begun after it', async () => {
  let ms = 0;
  const slow = createProber(
    {
      guard: LOOPBACK,
      privateNames: true,
      resolve,
      ca: null,
      clock: { now: () => ms, monotonic: () => (ms += 100) },
    },
    { requestMs: 250, linkMs: 350 },
  );
  const before = asked.length;
  expect(await slow.probe({ url: at('/round'), workspaceId })).toEqual({ error: 'timeout' });
  expect(asked.length - before).toBeLessThan(4);
});

test('one request takes no longer than is left of the time of its link', async () => {
  const brief = createProber(
    { guard: LOOPBACK, privateNames: true, resolve, ca: null, clock },
    { requestMs: 60_000, linkMs: 250 },
  );
  const silent = () => brief.probe({ url: at('/silent'), workspaceId });
  const spent = await livedMs(async () => expect(await silent()).toEqual({ error: 'timeout' }));
  expect(spent).toBeLessThan(20_000);
});

test('a name of a private network is refused without a look, and a port of no web server is not asked', async () => {
  const publicOnly = proberOf(LOOPBACK, { privateNames: false });
  looked.length = 0;
  const before = asked.length;
  for (const url of [
    'http://printer/',
    'http://db.internal/',
    'http://nas.local/',
    'http://metadata.google.internal/',
  ])
    expect(await publicOnly.probe({ url, workspaceId })).toEqual({ error: 'forbidden_address' });
  expect(await publicOnly.probe({ url: at('/good'), workspaceId })).toBeNull();
  expect(looked).toEqual([]);
  expect(asked.length).toBe(before);
  expect(await proberOf().probe({ url: 'http://metadata.google.internal/', workspaceId })).toEqual({
    error: 'forbidden_address',
  });
});

test('the requests to a host are counted with redirects, and one that may have an effect asks for the head alone', async () => {
  let left = 3;
  const mayAsk = () => left-- > 0;
  const before = asked.length;
  expect(await proberOf().probe({ url: at('/round'), workspaceId, mayAsk })).toBeNull();
  expect(asked.length - before).toBe(3);
  expect(await proberOf().probe({ url: at('/only-get'), workspaceId, onlyHead: true })).toBeNull();
  expect(asked.at(-1)).toBe('HEAD /only-get');
  expect(await proberOf().probe({ url: at('/only-get'), workspaceId })).toMatchObject({ status: 405 });
  expect(asked.at(-1)).toBe('GET /only-get');
});

test('no more than twelve of a workspace are asked at once, another one goes between, and what is over waits no more', async () => {
  const prober = proberOf();
  const silent = { url: at('/silent'), workspaceId };
  let settled = 0;
  const begun = asked.length;
  let most = 0;
  heard = () => {
    most = Math.max(most, asked.length - begun - settled);
  };
  const first = new AbortController();
  const waiting = new AbortController();
  const many = Array.from({ length: 40 }, (_, index) =>
    prober.probe({ ...silent, signal: index < 12 ? first.signal : waiting.signal }).finally(() => {
      settled++;
    }),
  );
  const other = await prober.probe({ url: at('/good'), workspaceId: 'ws_two' });
  expect(other).toMatchObject({ status: 200 });
  // The other one did not wait for the forty.
  expect(settled).toBe(0);
  waiting.abort();
  expect(await Promise.all(many.slice(12))).toEqual(Array(28).fill(null));
  first.abort();
  expect(await Promise.all(many.slice(0, 12))).toEqual(Array(12).fill({ error: 'timeout' }));
  expect(most).toBeLessThanOrEqual(13);
  expect(await prober.probe({ ...silent, signal: AbortSignal.abort() })).toBeNull();
});
