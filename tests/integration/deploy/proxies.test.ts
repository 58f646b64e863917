import { expect, test } from 'bun:test';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { createClient } from '../../support/client.ts';
import { deployed, PROXIES, startProxy } from '../../support/proxies.ts';
import { startService, TEST_KEY } from '../../support/service.ts';
import { openViewer } from '../inspector-viewer.ts';

// The documented proxies in front of a service, where they are installed.

const A_MINUTE = 15;
const curl = Bun.which('curl');

const isHere = (program: string): boolean => {
  const isInstalled = Bun.which(program, { PATH: `${process.env.PATH}:/usr/sbin` }) !== null;
  if (!isInstalled || !curl)
    console.log(`Not tried: ${isInstalled ? 'curl' : program} is not installed here.`);
  return isInstalled && curl !== null;
};

for (const name of Object.keys(PROXIES) as (keyof typeof PROXIES)[])
  test.skipIf(!isHere(name))(`${name}: large bodies, WebSockets and the client's own address`, async () => {
    const listen = await freePort();
    const url = `http://127.0.0.1:${listen}`;
    const env = {
      PUBLIC_URL: url,
      TRUST_PROXY: '1',
      RATE_LIMIT_PER_IP: String(A_MINUTE),
      METRICS_PORT: '',
    };
    await using service = await startService({ env });
    await using _proxy = await startProxy(name, { listen, service: service.port });

    // Beyond the megabyte that nginx would take by itself.
    const content = Buffer.alloc(6_000_000, 7).toString('base64');
    const large = await createClient(url, TEST_KEY).post('/v1/emails', {
      from: 'a@example.com',
      to: 'delivered@simulator.svc.test',
      subject: 'Large',
      text: 'Hi',
      attachments: [{ filename: 'large.bin', content }],
    });
    expect(large.status).toBe(202);
    {
      using viewer = await openViewer(url, TEST_KEY);
      expect(viewer.ticks.length).toBeGreaterThan(0);
    }
    const from = async (address: string, claimed: string): Promise<number> => {
      const words = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--interface', address];
      const asked = [
        ...words,
        '-H',
        `authorization: Bearer ${TEST_KEY}`,
        '-H',
        `x-forwarded-for: ${claimed}`,
      ];
      const child = Bun.spawn([curl ?? '', ...asked, `${url}/v1/emails`], { stdout: 'pipe' });
      return Number(await new Response(child.stdout).text());
    };
    // A client that names another address each time is counted as one, and disturbs no other.
    let last = 0;
    // Twice as often as is allowed, since a minute may end in between.
    for (let n = 0; n <= 2 * A_MINUTE && last !== 429; n++) last = await from('127.0.0.1', `10.0.0.${n}`);
    expect(last).toBe(429);
    expect(await from('127.0.0.2', '127.0.0.1')).toBe(200);
  });

test('every alert and every panel asks for metrics that the service has', async () => {
  const METRICS_PORT = String(await freePort());
  await using _service = await startService({ env: { METRICS_PORT } });
  const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, metric]) => metric));
  for (const page of ['alerts.yaml', 'grafana.json']) {
    const asked = [...deployed(page).matchAll(/\b((?:posthorn|process)_[a-z_]+)\{/g)].map(([, metric = '']) =>
      metric.replace(/_bucket$/, ''),
    );
    expect(asked.length).toBeGreaterThan(4);
    expect(asked.filter((metric) => !known.has(metric))).toEqual([]);
  }
});
