import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Client, createClient, type Reply } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, type Service, startService, TEST_KEY } from '../support/service.ts';

// POST /v1/emails/raw is admitted, counted and logged as POST /v1/emails is.

let service: Service;
let admin: Client;
let test_: Client;

const start = (env: Record<string, string>) =>
  startService({ env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0', TEST_SENDS_PER_DAY: '0', ...env } });
beforeAll(async () => {
  service = await start({});
  [admin, test_] = [LIVE_KEY, TEST_KEY].map((key) => createClient(service.url, key)) as [Client, Client];
});
afterAll(() => service[Symbol.asyncDispose]());

const MESSAGE = 'From: a@acme.example\r\nTo: delivered@simulator.svc.test\r\nSubject: S\r\n\r\nText\r\n';
const JSON_BODY = { from: 'a@acme.example', to: 'delivered@simulator.svc.test', subject: 'S', text: 'T' };
type Answer = Pick<Reply, 'status' | 'body'> & { readonly headers: Headers };

async function send(
  kind: 'json' | 'raw',
  { url = service.url, key = TEST_KEY, message = MESSAGE, headers = {} } = {},
): Promise<Answer> {
  const isRaw = kind === 'raw';
  const answer = await fetch(new URL(isRaw ? '/v1/emails/raw' : '/v1/emails', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': isRaw ? 'message/rfc822' : 'application/json',
      ...headers,
    },
    body: isRaw ? message : JSON.stringify(JSON_BODY),
  });
  return { status: answer.status, body: await answer.json(), headers: answer.headers };
}

describe('a raw message', () => {
  test('counts against the rate limit of its key and of its address, together with all else', async () => {
    await using perKey = await start({ RATE_LIMIT_PER_KEY: '2' });
    const statuses = async (url: string): Promise<readonly number[]> =>
      Promise.all(
        ['raw', 'json', 'raw', 'raw'].map(async (kind) => (await send(kind as 'raw', { url })).status),
      );
    expect((await statuses(perKey.url)).filter((status) => status === 429).length).toBeGreaterThan(0);
    await using perAddress = await start({ RATE_LIMIT_PER_IP: '3' });
    const said = await statuses(perAddress.url);
    // The look at its health counts as well.
    expect(said.filter((status) => status === 202).length).toBeLessThanOrEqual(3);
    const over = await send('raw', { url: perAddress.url });
    expect([over.body.error.code, Number(over.headers.get('retry-after')) > 0]).toEqual([
      'RATE_LIMITED',
      true,
    ]);
  });

  test('takes a unit of the quota, and is refused where none is left', async () => {
    await using limited = await start({ TEST_SENDS_PER_DAY: '2' });
    const { url } = limited;
    expect((await send('json', { url })).status).toBe(202);
    expect((await send('raw', { url })).status).toBe(202);
    const over = await send('raw', { url });
    expect([over.status, over.body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  });

  test('is one for an Idempotency-Key, and another message under the key is a conflict', async () => {
    const headers = { 'idempotency-key': 'raw-once' };
    const sent = await send('raw', { headers });
    const again = await send('raw', { headers });
    expect([again.status, again.body.data.id]).toEqual([202, sent.body.data.id]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = await send('raw', { headers, message: MESSAGE.replace('Text', 'Other') });
    expect(other.status).toBe(409);
    expect((await send('json', { headers })).status).toBe(409);
  });

  test('is in the log of requests, with the reason of a refusal', async () => {
    const sent = await send('raw');
    const refused = await send('raw', { message: MESSAGE.replace('From', 'X-From') });
    expect([sent.status, refused.status]).toEqual([202, 422]);
    const logged = await eventually('both are logged', async () => {
      const { data } = (await test_.get('/v1/requests?limit=50')).body;
      const ids = [sent, refused].map(({ headers }) => headers.get('x-request-id'));
      const found = ids.map((id) => data.find((one: { id: string }) => one.id === id));
      return found.every(Boolean) ? found : undefined;
    });
    expect(logged).toMatchObject([
      { method: 'POST', route: '/v1/emails/raw', status: 202, errorCode: null },
      { method: 'POST', route: '/v1/emails/raw', status: 422, errorCode: 'VALIDATION_ERROR' },
    ]);
  });

  test('of a key that was used before and revoked, or lost its permission, is refused', async () => {
    const made = await admin.post('/v1/api-keys', { name: 'K', env: 'test', permissions: ['emails:send'] });
    const { id, key } = made.body.data;
    for (let used = 0; used < 2; used++) expect((await send('raw', { key })).status).toBe(202);
    expect((await admin.patch(`/v1/api-keys/${id}`, { permissions: ['emails:read'] })).status).toBe(200);
    expect((await send('raw', { key })).status).toBe(403);
    expect((await admin.patch(`/v1/api-keys/${id}`, { permissions: ['emails:send'] })).status).toBe(200);
    expect((await send('raw', { key })).status).toBe(202);
    expect((await admin.delete(`/v1/api-keys/${id}`)).status).toBe(200);
    // The problems of the message are not told any more.
    for (const message of [MESSAGE, 'no message'])
      expect((await send('raw', { key, message })).status).toBe(401);
  });
});
