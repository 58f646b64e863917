import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { diagnoseProxy } from '../../src/ops/doctor/exposure.ts';
import { diagnoseBalancers } from '../../src/ops/doctor/mail/balancers.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { parseRanges } from '../../src/platform/config/client-address.ts';
import { startRealService } from '../contract/real-service.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { binaryHeader } from '../support/proxy-headers.ts';

const host = '127.0.0.1';

test('nothing is said where no balancer is trusted', async () => {
  expect(await Array.fromAsync(diagnoseBalancers({ smtpTrustProxy: null, metricsPort: 9, host }))).toEqual(
    [],
  );
});

test.each([
  ['10.0.0.0/8', 'fine', 'fine'],
  ['100.64.0.0/10,fd00::/8,::1', 'fine', 'fine'],
  ['203.0.113.0/24,2001:db8::/48', 'fine', 'fine'],
  ['203.0.112.0/23', 'warning', 'fine'],
  ['2001:db8::/32', 'warning', 'fine'],
  ['104.16.0.0/12', 'warning', 'fine'],
  ['104.0.0.0/11', 'warning', 'warning'],
  ['2600::/23', 'warning', 'warning'],
  // Half of it is public.
  ['10.0.0.0/7', 'warning', 'warning'],
  ['192.0.2.1,0.0.0.0/1', 'warning', 'warning'],
])('with %s SMTP_TRUST_PROXY is %s, TRUST_PROXY %s', async (text, smtp, http) => {
  const ranges = parseRanges(text) ?? [];
  const said = await Array.fromAsync(diagnoseBalancers({ smtpTrustProxy: ranges, metricsPort: null, host }));
  expect(said.map(({ status }) => status)).toEqual([
    ...(smtp === 'fine' ? [] : ['warning' as const]),
    'skipped',
  ]);
  const proxied = { trustProxy: { ranges }, publicUrl: 'https://mail.example.com', httpsPort: null };
  const settings = { host, submissionPort: null, submissionTlsPort: null, submissionTlsCert: null };
  expect(diagnoseProxy({ ...settings, ...proxied })).toMatchObject({ check: 'Proxy', status: http });
});

test('TRUST_PROXY may trust every address, which is a warning with the range and what to do', () => {
  const settings = { host, submissionPort: null, submissionTlsPort: null, submissionTlsCert: null };
  const proxied = { publicUrl: 'https://mail.example.com', httpsPort: 443 };
  expect(
    diagnoseProxy({ ...settings, ...proxied, trustProxy: { ranges: parseRanges('::/0') ?? [] } }),
  ).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('::/0'),
    advice: 'Set TRUST_PROXY to the addresses of your proxies, or to their number.',
  });
});

/** Begins a connection with octets, and settles when it has ended. */
async function begun(port: number, octets: Uint8Array, isEnded = false): Promise<void> {
  const socket = connect(port, host).on('error', () => {});
  await once(socket, 'connect');
  if (isEnded) socket.end(octets);
  else socket.write(octets);
  socket.resume();
  await once(socket, 'close');
}

test('a balancer that sends no header is a warning of the doctor, and one line of the log', async () => {
  await using database = await createTestDatabase();
  const [port, submission, metricsPort] = [await freePort(), await freePort(), await freePort()];
  await using service = await startRealService({
    DATABASE_URL: database.url,
    METRICS_PORT: String(metricsPort),
    INBOUND_SMTP_PORT: String(port),
    SUBMISSION_PORT: String(submission),
    SMTP_TRUST_PROXY: host,
  });
  const ask = async () => {
    const smtpTrustProxy = parseRanges(host);
    const [said] = await Array.fromAsync(diagnoseBalancers({ smtpTrustProxy, metricsPort, host }));
    return [said?.status, said?.detail];
  };
  // Checks of a balancer: one that only connects, and one with a header.
  await begun(port, Buffer.alloc(0), true);
  await begun(port, binaryHeader(null), true);
  expect(await ask()).toEqual([
    'fine',
    'Each connection from an address in SMTP_TRUST_PROXY began with a PROXY header.',
  ]);
  await begun(port, Buffer.from('EHLO client.test\r\n'));
  await begun(port, Buffer.from('EHLO client.test\r\n'));
  await begun(submission, Buffer.from('EHLO client.test\r\n'));
  expect(await ask()).toEqual([
    'warning',
    'Since its start the service has ended 3 connections from addresses in SMTP_TRUST_PROXY, because they began without a PROXY header.',
  ]);
  const told = 'No PROXY header came from 127.0.0.1, which SMTP_TRUST_PROXY names. Have the balancer send it';
  expect(service.logged().split(told)).toHaveLength(3);
  expect(
    await Array.fromAsync(diagnoseBalancers({ smtpTrustProxy: parseRanges(host), metricsPort: 9, host })),
  ).toMatchObject([{ status: 'skipped', detail: 'No service answers at METRICS_PORT 9.' }]);
});
