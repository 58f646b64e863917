import { afterAll, expect, test } from 'bun:test';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { startSes } from '../../support/ses.ts';
import { openWorkspace, zoneOf } from './a-workspace.ts';

const ses = startSes();
afterAll(() => ses.stop());

const config = {
  transport: ['smtp', 'ses', 'direct'] as const,
  smtpUrl: 'smtp://relay.example.net',
  sesRegion: 'eu-west-1',
  sesEndpoint: ses.endpoint,
  awsAccessKeyId: 'AK',
  awsSecretAccessKey: 'SK',
};

test('records of every transport are asked for, and those of the first one are required', async () => {
  await using at = await openWorkspace(config);
  const records = async (name: string, more: object) =>
    (await at.add(name, more)).dnsRecords.filter(({ purpose }) => purpose === 'spf' || purpose === 'mx');
  const both = [
    { purpose: 'spf', value: 'v=spf1 a:relay.example.net a:mail.example.com ~all', required: false },
    { purpose: 'mx', required: false },
  ];
  expect(await records('a.test', { fallbacks: ['ses', 'direct'] })).toMatchObject(both);
  expect(await records('b.test', { provider: 'ses', fallbacks: ['smtp', 'direct'] })).toMatchObject(both);
  expect(await records('c.test', { provider: 'ses' })).toEqual([]);
  expect(await records('d.test', { provider: 'direct' })).toMatchObject([
    { value: 'v=spf1 a:mail.example.com ~all', required: true },
    { required: true },
  ]);
});

test('SES in reserve learns of the domain', async () => {
  await using at = await openWorkspace(config);
  const { id, dnsRecords } = await at.add('told.test', { fallbacks: ['ses'] });
  at.dns.zone = zoneOf(dnsRecords);
  expect((await at.verify(id)).status).toBe('verified');
  expect(ses.calls.some(({ body }) => body?.EmailIdentity === 'told.test')).toBe(true);
});

test('a transport in reserve that is away, and its missing records, keep nothing back; the first one does', async () => {
  await using at = await openWorkspace({ ...config, sesEndpoint: `http://127.0.0.1:${await freePort()}` });
  const one = await at.add('kept.test', { fallbacks: ['ses', 'direct'] });
  const dkim = zoneOf(one.dnsRecords.filter(({ required }) => required));
  expect(Object.keys(dkim)).toHaveLength(1);
  at.dns.zone = dkim;
  expect((await at.verify(one.id)).status).toBe('verified');
  at.clock.time += 60_000;
  expect((await at.patch(one.id, { provider: 'ses', fallbacks: ['smtp'] })).provider).toBe('ses');
  at.clock.time += 60_000;
  expect((await at.verify(one.id)).status).toBe('temporaryFailure');
});
