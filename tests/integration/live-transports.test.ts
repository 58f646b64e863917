import { afterAll, beforeAll, expect, test } from 'bun:test';
import { diagnoseWays } from '../../src/ops/doctor/mail/transports.ts';
import { startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startSes } from '../support/ses.ts';
import { timersPassed } from '../support/stored-email.ts';
import { zoneOf } from './domains/a-workspace.ts';
import { startNameServer, type TestNameServer } from './transport/name-server.ts';
import { SILENCE, startScriptedSmtp } from './transport/scripted-smtp.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// Several ways out at once, and the one that each domain has chosen.

let dns: TestNameServer;
let sink: Sink;
let ses: ReturnType<typeof startSes>;
let service: LiveService;
let environment: Record<string, string>;

beforeAll(async () => {
  dns = await startNameServer();
  sink = await startSink();
  ses = startSes();
  environment = {
    TRANSPORT: 'capture,smtp,ses',
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    SES_REGION: 'eu-west-1',
    SES_ENDPOINT: ses.endpoint,
    SES_CONFIGURATION_SET: 'reports',
    AWS_ACCESS_KEY_ID: 'AK',
    AWS_SECRET_ACCESS_KEY: 'SK',
    DNS_SERVERS: `127.0.0.1:${dns.server.port}`,
  };
  service = await startLiveService({ environment });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await ses.stop();
  await sink[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

const choose = (at: LiveService, provider: unknown) =>
  at.live.patch(`/v1/domains/${at.domainId}`, { provider });

/**
 * Chooses a way, sets the records that it asks for, and has them seen. The choice begins a check by itself,
 * which may have looked before they were set, and a request to verify waits for a check that is under way.
 */
async function goBy(provider: string | null): Promise<Email> {
  const { body } = await choose(service, provider);
  dns.zone = zoneOf(body.data.dnsRecords);
  return eventually('the records seen', async () => {
    const { data } = (await service.live.post(`/v1/domains/${service.domainId}/verify`)).body;
    return data.status === 'verified' ? data : undefined;
  });
}

const providerOf = ({ events }: Email): string =>
  events.find(({ type }: Email) => type === 'sent').data.provider;

test('live mail leaves by the transport that its domain chose, named in its events', async () => {
  const kept = await service.until(await service.send(), ({ status }) => status === 'delivered');
  expect(providerOf(kept)).toBe('capture');

  const relayed = await goBy('smtp');
  expect(relayed).toMatchObject({ provider: 'smtp', status: 'verified' });
  expect(relayed.dnsRecords.find(({ purpose }: Email) => purpose === 'mx').required).toBe(false);
  const id = await service.send();
  expect(providerOf(await service.until(id, ({ status }) => status === 'sent'))).toBe('smtp');
  expect(sink.received.filter(({ raw }) => raw.includes(id))).toHaveLength(1);
  expect(ses.calls).toEqual([]);

  const bySes = await goBy('ses');
  expect(bySes).toMatchObject({ provider: 'ses', status: 'verified' });
  expect(bySes.dnsRecords.map(({ purpose }: Email) => purpose)).toEqual(['dkim', 'dmarc']);
  const last = await service.send();
  expect(providerOf(await service.until(last, ({ status }) => status === 'sent'))).toBe('ses');
  expect(ses.calls.at(-1)).toMatchObject({
    path: '/v2/email/outbound-emails',
    body: { ConfigurationSetName: 'reports', EmailTags: [{ Name: 'emailId', Value: last }] },
  });
  expect(sink.received.filter(({ raw }) => raw.includes(last))).toEqual([]);

  expect(await goBy(null)).toMatchObject({ provider: 'capture', status: 'verified' });
  const again = await service.until(await service.send(), ({ status }) => status === 'delivered');
  expect(providerOf(again)).toBe('capture');
});

test('a domain may choose enabled transports only, which the refusal names', async () => {
  const domain = (await service.live.get(`/v1/domains/${service.domainId}`)).body.data;
  for (const provider of ['direct', 'pigeon', '']) {
    for (const told of [
      await choose(service, provider),
      await service.live.post('/v1/domains', { name: 'other.example', provider }),
    ]) {
      expect([told.status, told.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
      expect(told.body.error.details).toEqual([
        {
          path: '/body/provider',
          message: 'Choose one of the enabled transports: capture, smtp, ses.',
        },
      ]);
    }
  }
  expect((await choose(service, 7)).body.error.details[0].path).toBe('/body/provider');
  expect((await service.live.get(`/v1/domains/${service.domainId}`)).body.data).toEqual(domain);
});

test('a domain added with a transport shows the records of that transport', async () => {
  dns.zone = {};
  const { status, body } = await service.live.post('/v1/domains', {
    name: 'chosen.example',
    provider: 'ses',
  });
  expect(status).toBe(201);
  // Nothing would leave by capture, so that it would need no proof; by SES it does.
  expect(body.data).toMatchObject({ provider: 'ses', status: 'pending' });
  expect(body.data.dnsRecords.map(({ purpose }: Email) => purpose)).toEqual(['dkim', 'dmarc']);
  const { data } = (await service.live.get(`/v1/domains/${body.data.id}`)).body;
  expect(data.provider).toBe('ses');
  const found = (await service.live.get('/v1/domains')).body.data;
  expect(found.map(({ provider }: Email) => provider)).toEqual(['ses', 'capture']);
});

test('a stalled relay delays no mail of other transports', async () => {
  await using silent = await startScriptedSmtp({ greeting: SILENCE });
  const SMTP_URL = `smtp://127.0.0.1:${silent.port}`;
  await using busy = await startLiveService({
    environment: { ...environment, SMTP_URL },
    limits: { slots: 1, stopMs: 100 },
  });
  const { body } = await busy.live.post('/v1/domains', { name: 'swift.example' });
  expect(body.data.provider).toBe('capture');
  await choose(busy, 'smtp');
  const stuck = [await busy.send(), await busy.send()];
  for (let n = 0; n < 5; n += 1) {
    const swift = await busy.send({ from: 'a@swift.example' });
    await busy.until(swift, ({ status }) => status === 'delivered');
  }
  const statuses = stuck.map(async (id) => (await busy.live.get(`/v1/emails/${id}`)).body.data.status);
  expect((await Promise.all(statuses)).toSorted()).toEqual(['queued', 'sending']);
});

test('mail of a disabled transport is held and reported, and leaves once it is enabled again', async () => {
  await using database = await createTestDatabase();
  const all = { ...environment, DATABASE_URL: database.url };
  const from = 'shop@held.example';
  const add = async () => {
    await using before = await startRealService(all);
    const key = await before.keyWith('live', ['*']);
    const { body } = await before.ask({
      method: 'POST',
      path: '/v1/domains',
      key,
      body: { name: 'held.example', provider: 'smtp' },
    });
    dns.zone = zoneOf(body.data.dnsRecords);
    const verified = await before.ask({ method: 'POST', path: `/v1/domains/${body.data.id}/verify`, key });
    expect(verified.body.data.status).toBe('verified');
    expect(before.logged()).not.toContain('TRANSPORT does not enable');
    return { key, id: body.data.id as string };
  };
  const { key, id } = await add();

  const read = async (at: Awaited<ReturnType<typeof startRealService>>, path: string) =>
    (await at.ask({ path, key })).body.data;
  const send = async () => {
    await using during = await startRealService({ ...all, TRANSPORT: 'capture,ses' });
    expect(during.logged()).toContain(
      'Domains have chosen smtp, which TRANSPORT does not enable. Their mail is held until it does.',
    );
    expect((await read(during, `/v1/domains/${id}`)).provider).toBe('smtp');
    expect(await diagnoseWays(during.service.database, ['capture', 'ses'])).toMatchObject({
      status: 'wrong',
      detail: expect.stringContaining('held.example by smtp'),
    });
    expect(await diagnoseWays(during.service.database, ['capture', 'smtp'])).toMatchObject({
      status: 'fine',
    });
    const sent = await during.ask({
      method: 'POST',
      path: '/v1/emails',
      key,
      body: { from, to: 'ada@example.com', subject: 'x', text: 'x' },
    });
    expect(sent.status).toBe(202);
    const email = sent.body.data.id as string;
    for (let status = ''; status !== 'deferred'; )
      status = (await read(during, `/v1/emails/${email}`)).status;
    const { evidence } = await read(during, `/v1/emails/${email}/explain`);
    expect(evidence.map(({ text }: Email) => text).join()).toContain(
      'The provider that its sending domain has chosen is not enabled here (TRANSPORT)',
    );
    expect(await read(during, '/v1/captured')).toEqual([]);
    return email;
  };
  const email = await send();
  expect(sink.received.filter(({ raw }) => raw.includes(email))).toEqual([]);

  await using after = await startRealService(all);
  for (const text of timersPassed(`'queued', 'sending', 'deferred'`))
    await after.service.database.query(text);
  await after.service.engine.wakeDue();
  for (let status = ''; status !== 'sent'; ) status = (await read(after, `/v1/emails/${email}`)).status;
  expect(sink.received.filter(({ raw }) => raw.includes(email))).toHaveLength(1);
});
