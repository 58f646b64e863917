import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startService, TEST_KEY } from '../support/service.ts';
import { openReceiver, openWorld } from '../support/webhook-world.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from './transport/certificates.ts';

// Forbidden targets of webhooks, end to end: as a server that the world reaches judges it.

const FORBIDDEN = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://localhost/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:a00:1]/',
  'http://0.0.0.0/',
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fc00::1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://168.63.129.16/',
];

test('an address that is not public is refused at registration and at a change', async () => {
  await using world = await openWorld({ env: { HOST: '0.0.0.0' } });
  const events = ['sent'];
  const { body } = await world.test.post('/v1/webhooks', { url: 'https://1.1.1.1/hook', events });
  for (const url of FORBIDDEN)
    for (const reply of [
      await world.test.post('/v1/webhooks', { url, events }),
      await world.test.patch(`/v1/webhooks/${body.data.id}`, { url }),
    ]) {
      const where = reply.body.error?.details?.[0]?.path;
      expect({ url, status: reply.status, where }).toEqual({ url, status: 422, where: '/body/url' });
    }
  expect((await world.test.get('/v1/webhooks')).body.data).toHaveLength(1);
});

test('what was registered while it was allowed is checked again when it is connected to', async () => {
  await using home = await openWorld();
  using receiver = openReceiver();
  const url = receiver.url.replace('127.0.0.1', 'localhost');
  const { body } = await home.test.post('/v1/webhooks', { url, events: ['delivered'] });
  const webhookId = body.data.id as string;
  await using world = await openWorld({ env: { HOST: '0.0.0.0' }, databaseUrl: home.databaseUrl });
  await world.service.database.query(
    `update webhook_endpoints set workspace_id = (
    select workspace_id from api_keys order by id desc limit 1) where id = $1`,
    [webhookId],
  );
  await world.send();
  const [delivery] = await eventually('the attempt', async () => {
    const rows = (await world.test.get(`/v1/webhooks/${webhookId}/deliveries`)).body.data;
    return rows[0]?.attemptedAt ? rows : undefined;
  });
  expect(delivery).toMatchObject({
    status: 'scheduled',
    httpStatus: 0,
    error: 'forbidden_address',
    responseBody: 'The host of the endpoint has an address that webhooks must not reach.',
  });
  expect(receiver.received).toEqual([]);
});

test('an authority of TLS_CA_FILE is trusted by webhooks too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-authority-'));
  const TLS_CA_FILE = join(folder, 'ca.pem');
  writeFileSync(TLS_CA_FILE, AUTHORITY);
  using receiver = openReceiver({ cert: CERTIFICATE, key: PRIVATE_KEY });
  await using world = await openWorld({ env: { TLS_CA_FILE } });
  const { body } = await world.test.post('/v1/webhooks', {
    url: receiver.url.replace('127.0.0.1', 'localhost'),
    events: ['delivered'],
  });
  await world.send();
  const delivery = await eventually('the attempt', async () => {
    const [row] = (await world.test.get(`/v1/webhooks/${body.data.id}/deliveries`)).body.data;
    return row?.attemptedAt ? row : undefined;
  });
  expect(delivery).toMatchObject({ status: 'success', httpStatus: 200, error: null });
  rmSync(folder, { recursive: true });
});

test('the embedded database delivers as a server does', async () => {
  await using service = await startService();
  using receiver = openReceiver();
  const client = createClient(service.url, TEST_KEY);
  const events = ['sent', 'delivered'];
  const { id } = (await client.post('/v1/webhooks', { url: receiver.url, events })).body.data;
  const email = { from: 'a@acme.example', to: 'b@acme.example', subject: 'A test', text: 'Hello' };
  expect((await client.post('/v1/emails', email)).status).toBe(202);
  await receiver.until(2);
  const range = { from: '2020-01-01T00:00:00Z', to: '2120-01-01T00:00:00Z' };
  expect((await client.post(`/v1/webhooks/${id}/replay`, range)).body.data).toEqual({
    queued: 2,
    continueFrom: null,
  });
  await receiver.until(4);
  expect((await client.post(`/v1/webhooks/${id}/rotate-secret`)).status).toBe(200);
  expect((await client.patch(`/v1/webhooks/${id}`, { status: 'disabled' })).status).toBe(200);
  expect((await client.delete(`/v1/webhooks/${id}`)).status).toBe(204);
  expect((await client.get('/v1/events')).body.data).toHaveLength(2);
});
