import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectRaw } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { CertificateKeeper, ServedCertificate } from '../../src/http/certificates/keeper.ts';
import { openDoors } from '../../src/ops/commands/serving/doors.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { startAcmeAuthority } from '../support/acme-authority.ts';
import { createTestAuthority, type TestAuthority } from '../support/acme-certificates.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, TEST_KEY } from '../support/service.ts';

const logger = createLogger({ level: 'silent', pretty: false });
const day = 86_400_000;

/** The serial number of the certificate that a new connection gets. */
function serialAt(port: number, ca: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port, ca, checkServerIdentity: () => undefined }, () => {
    resolve(socket.getPeerCertificate().serialNumber);
    socket.destroy();
  });
  socket.once('error', reject);
  return promise;
}

const overTls = (ca: string): BunFetchRequestInit => ({
  tls: { ca, checkServerIdentity: () => undefined },
});

describe('the ports of HTTP with a certificate', () => {
  let issuer: TestAuthority;
  beforeAll(async () => {
    issuer = await createTestAuthority();
  });

  const made = async (): Promise<ServedCertificate> => {
    const dates = { notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() + day) };
    const { cert, key } = await issuer.own(dates);
    return {
      certificate: cert,
      key,
      notBefore: dates.notBefore.getTime(),
      notAfter: dates.notAfter.getTime(),
    };
  };

  /** Doors whose certificate the test gives, in front of an application that says who asks. */
  async function doors(answer?: () => Promise<void>) {
    let give: (certificate: ServedCertificate) => void = () => {};
    const [port, httpsPort] = [await freePort(), await freePort()];
    const opened = openDoors(
      {
        app: {
          async fetch(request, server) {
            if (request.url.endsWith('/slow')) await answer?.();
            return new Response(`${server.requestIP(request)?.address} ${request.url}`);
          },
          unexpected: () => new Response(null, { status: 500 }),
        },
        sockets: { admit: () => null, refuseHandshake: () => new Response(null), close() {} },
        certificates: {
          follow: (follower: typeof give) => {
            give = follower;
          },
          reachable() {},
          answerTo: async (token: string) => (token === 'known' ? 'known.answer' : null),
        } as unknown as CertificateKeeper,
        clock: systemClock,
      },
      { host: '127.0.0.1', port, httpsPort, publicUrl: 'https://mail.example.com', roles: ['http'] },
      logger,
      { shared: false, isDraining: () => false },
    );
    return {
      httpsPort,
      give: (certificate: ServedCertificate) => give(certificate),
      plain: (path: string, init?: RequestInit) =>
        fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init }),
      secure: (path: string, fresh = true) =>
        fetch(`https://127.0.0.1:${httpsPort}${path}`, { ...overTls(issuer.root), keepalive: !fresh }),
      [Symbol.asyncDispose]: () => opened.close(),
    };
  }

  test('the plain port answers challenges and health, says that HTTPS is not there yet, and then leads to it', async () => {
    await using door = await doors();
    const challenge = await door.plain('/.well-known/acme-challenge/known');
    expect(await challenge.text()).toBe('known.answer');
    expect((await door.plain('/.well-known/acme-challenge/unknown')).status).toBe(404);
    expect((await door.plain('/health')).status).toBe(200);
    const early = await door.plain('/login');
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '60']);
    await expect(door.secure('/')).rejects.toThrow();
    door.give(await made());
    await eventually('HTTPS', () => door.secure('/').then(() => true));
    const led = await door.plain('/login?next=%2F');
    expect([led.status, led.headers.get('location')]).toEqual([
      308,
      'https://mail.example.com/login?next=%2F',
    ]);
    for (const init of [{ method: 'POST' }, { headers: { authorization: `Bearer ${TEST_KEY}` } }])
      expect((await door.plain('/v1/emails', init)).status).toBe(400);
  });

  test('a renewal loses no request: open ones go on, and later connections get the new certificate', async () => {
    const slow = Promise.withResolvers<void>();
    await using door = await doors(() => slow.promise);
    door.give(await made());
    const first = await eventually('HTTPS', () => serialAt(door.httpsPort, issuer.root));
    const long = door.secure('/slow');
    const renewals = (async () => {
      for (let n = 0; n < 5; n++) {
        door.give(await made());
        await door.secure(`/between/${n}`);
      }
    })();
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (let n = 0; n < 15; n++)
        expect((await door.secure(`/${client}/${n}`, client % 2 === 0)).status).toBe(200);
    });
    await Promise.all([renewals, ...clients]);
    expect(await serialAt(door.httpsPort, issuer.root)).not.toBe(first);
    slow.resolve();
    expect(await (await long).text()).toStartWith('127.0.0.1 ');
  });

  test('whatever is no TLS is cut off, and the others are answered', async () => {
    await using door = await doors();
    door.give(await made());
    await eventually('HTTPS', () => door.secure('/').then(() => true));
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const garbage = connectRaw(door.httpsPort, '127.0.0.1', () => garbage.write('GET / HTTP/1.1\r\n\r\n'));
    garbage.once('close', () => resolve());
    garbage.on('error', () => {});
    garbage.resume();
    await ended;
    expect((await door.secure('/')).status).toBe(200);
  });
});

describe('posthorn serve with HTTPS_PORT', () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-https-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('orders a certificate by itself, serves the API and the SMTP ports with it, after a restart without asking again', async () => {
    const [port, httpsPort] = [await freePort(), await freePort()];
    const [inbound, submission] = [await freePort(), await freePort()];
    await using authority = await startAcmeAuthority({
      validateAt: () => port,
      dates: () => ({ notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() + 80 * day) }),
    });
    await using database = await createTestDatabase();
    const ca = join(folder, 'ca.pem');
    writeFileSync(ca, authority.root);
    const env = {
      HTTPS_PORT: String(httpsPort),
      PUBLIC_URL: 'https://mail.example.com',
      ACME_TERMS_AGREED: 'yes',
      ACME_DIRECTORY_URL: authority.directoryUrl,
      TLS_CA_FILE: ca,
      BOOTSTRAP_TEST_KEY: TEST_KEY,
      DATABASE_URL: database.url,
      SECRET_KEY: 'the-key-of-this-test-the-key-of-this-test',
      INBOUND_SMTP_PORT: String(inbound),
      SUBMISSION_PORT: String(submission),
    };
    for (const start of [1, 2]) {
      await using service = await startService({ env, port });
      const answer = await eventually(`HTTPS after start ${start}`, () =>
        fetch(`https://127.0.0.1:${httpsPort}/v1/emails`, {
          ...overTls(authority.root),
          headers: { authorization: `Bearer ${TEST_KEY}` },
        }),
      );
      expect(answer.status).toBe(200);
      for (const smtp of [inbound, submission]) {
        const client = Bun.spawnSync([
          'openssl',
          's_client',
          '-connect',
          `127.0.0.1:${smtp}`,
          '-starttls',
          'smtp',
          '-CAfile',
          ca,
          '-verify_hostname',
          'mail.example.com',
          '-verify_return_error',
        ]);
        expect(client.stdout.toString()).toContain('Verify return code: 0 (ok)');
      }
      expect(await service.stop()).toBe(0);
    }
    // The first signed request is refused for its nonce.
    expect(['new-account', 'new-order', 'finalize'].map(authority.asked)).toEqual([2, 1, 1]);
  });

  test('starts only where the terms were agreed to and the address can have a certificate', () => {
    const problemsOf = (environment: Record<string, string>): readonly string[] => {
      const loaded = loadConfig({ HTTPS_PORT: '8443', ...environment });
      return 'problems' in loaded ? loaded.problems : [];
    };
    const terms = { ACME_TERMS_AGREED: 'yes' };
    expect(problemsOf({ PUBLIC_URL: 'https://mail.example.com' }).join()).toStartWith(
      'ACME_TERMS_AGREED must be yes',
    );
    for (const url of [
      'http://mail.example.com',
      'https://192.0.2.1',
      'https://localhost',
      'https://a.example/x',
    ])
      expect(problemsOf({ ...terms, PUBLIC_URL: url }).join()).toStartWith('PUBLIC_URL must be an https URL');
    expect(problemsOf({ ...terms, PUBLIC_URL: 'https://mail.example.com', PORT: '8443' })).toEqual([
      'HTTPS_PORT and PORT must differ.',
    ]);
    expect(problemsOf({ ...terms, PUBLIC_URL: 'https://mail.example.com' })).toEqual([]);
  });
});
