import { expect, test } from 'bun:test';
import { diagnoseRelays } from '../../src/ops/doctor/mail/relays.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { startRealService } from '../contract/real-service.ts';
import { createTestDatabase } from '../support/postgres.ts';

const smtpFallbackUrl = 'smtp://b.test';
const host = '0.0.0.0';

test('with one relay nothing is said; without METRICS_PORT, and without a service, why it is not known', async () => {
  expect(await diagnoseRelays({ smtpFallbackUrl: null, metricsPort: 9, host })).toBeNull();
  const ask = (metricsPort: number | null) => diagnoseRelays({ smtpFallbackUrl, metricsPort, host });
  expect(await ask(null)).toMatchObject({
    status: 'skipped',
    detail: expect.stringContaining('METRICS_PORT is not set'),
  });
  expect(await ask(9)).toMatchObject({ status: 'skipped', detail: 'No service answers at METRICS_PORT 9.' });
});

test('the running service tells the state of both relays', async () => {
  await using database = await createTestDatabase();
  const metricsPort = await freePort();
  await using _service = await startRealService({
    DATABASE_URL: database.url,
    METRICS_PORT: String(metricsPort),
    TRANSPORT: 'capture,smtp',
    SMTP_URL: 'smtp://a.test',
    SMTP_FALLBACK_URL: smtpFallbackUrl,
  });
  expect(await diagnoseRelays({ smtpFallbackUrl, metricsPort, host })).toMatchObject({
    status: 'fine',
    detail: 'a.test:587 is in use; b.test:587 is in use.',
  });
});

test('a relay that is left alone is a warning, and one that only waits for an email reads as that', async () => {
  let numbers = [2, 0];
  await using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        numbers.map((n, relay) => `posthorn_relay_state{relay="${'ab'[relay]}:25"} ${n}\n`).join(''),
      ),
  });
  const ask = () => diagnoseRelays({ smtpFallbackUrl, metricsPort: server.port ?? 0, host });
  expect(await ask()).toMatchObject({
    status: 'warning',
    detail: 'a:25 is left alone after failures; b:25 is in use.',
  });
  numbers = [3, 1];
  expect((await ask())?.detail).toBe(
    'a:25 was left alone after failures, and the next email tries it; b:25 is being tried again by an email.',
  );
  numbers = [];
  expect((await ask())?.detail).toBe('The service on this machine runs with one relay.');
});
