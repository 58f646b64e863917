import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { createTestAuthority } from '../../support/acme-certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { eximMissing, openExim } from '../../support/exim.ts';
import { haproxyMissing, startHaproxy } from '../../support/haproxy.ts';
import { type LiveService, startLiveService } from '../../support/live-service.ts';
import { aMail, handIn } from '../received-door.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../transport/certificates.ts';
import { startNameServer, type TestNameServer, txt } from '../transport/name-server.ts';
import { postfixMissing, startPostfix } from '../transport/postfix.ts';

// Real programs hand mail in to the whole service, over TLS, in chunks and behind a balancer.

const BALANCER = '127.0.0.2';
const CLIENT = '127.0.0.3';
const files = mkdtempSync(join(tmpdir(), 'posthorn-port-'));
const ca = join(files, 'ca.pem');
let service: LiveService;
let dns: TestNameServer;
let port: number;

beforeAll(async () => {
  port = await freePort();
  writeFileSync(join(files, 'cert.pem'), CERTIFICATE);
  writeFileSync(join(files, 'key.pem'), PRIVATE_KEY);
  writeFileSync(ca, AUTHORITY);
  dns = await startNameServer({ 'customer.example TXT': [txt(`v=spf1 ip4:${CLIENT} -all`)] });
  service = await startLiveService({
    environment: {
      ...{ INBOUND_SMTP_PORT: String(port), EHLO_NAME: 'relay.test', SMTP_TRUST_PROXY: BALANCER },
      ...{ SUBMISSION_TLS_CERT: join(files, 'cert.pem'), SUBMISSION_TLS_KEY: join(files, 'key.pem') },
      DNS_SERVERS: `127.0.0.1:${dns.server.port}`,
    },
  });
  const domain = await service.live.post('/v1/domains', { name: 'elsewhere.test' });
  await service.live.post('/v1/inbound-routes', {
    domainId: domain.body.data.id,
    match: { type: 'prefix', localPart: 'support' },
    action: { type: 'keep' },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
  rmSync(files, { recursive: true });
});

interface Stored {
  readonly raw: string;
  readonly spf: string;
  readonly forward: { readonly client: string; readonly protocol: string; readonly tls: string | null };
}

/** The message with a subject, with what is kept of its connection. */
const stored = (subject: string): Promise<Stored> =>
  eventually(
    `"${subject}" has come`,
    async () => {
      const listed = (await service.live.get('/v1/received')).body.data;
      const found = listed.find((one: { subject: string }) => one.subject === subject);
      if (!found) return undefined;
      const raw = await fetch(`${service.url}/v1/received/${found.id}/raw`, {
        headers: { authorization: `Bearer ${service.keys.live}` },
      });
      const [row] = await service.service.database.query<{ authentication: Omit<Stored, 'raw'> }>(
        'select authentication from received where id = $1',
        [found.id],
      );
      return { raw: await raw.text(), ...(row?.authentication as Omit<Stored, 'raw'>) };
    },
    { withinMs: 60_000 },
  );

const TLS = /^TLS_[A-Z0-9_]+ \(TLSv1\.[23]\)$/;
const TEXT = `.\r\n..\r\nQUIT\r\n${'long '.repeat(180)}\r\n`.repeat(300);

const missing = postfixMissing();
if (missing !== null) console.log(`Not shown here, since ${missing}: mail that Postfix sends over TLS.`);

describe.if(missing === null)('Postfix', () => {
  test('checks the certificate, and relays over TLS', async () => {
    await using postfix = await startPostfix({
      relaysTo: port,
      settings: [
        'smtp_tls_security_level = secure',
        'smtp_tls_secure_cert_match = relay.test',
        `smtp_tls_CAfile = ${ca}`,
        '',
      ].join('\n'),
    });
    const to = ['support@elsewhere.test'];
    const said = await handIn(
      postfix.port,
      'ada@customer.example',
      to,
      aMail({ Subject: 'Postfix, TLS' }, TEXT),
    );
    expect(said.at(-1)).toStartWith('250 ');
    const { raw, forward } = await stored('Postfix, TLS');
    expect(raw).toContain(TEXT);
    expect(forward).toMatchObject({ protocol: 'ESMTPS', tls: expect.stringMatching(TLS) });
  });
});

const noExim = eximMissing();
if (noExim !== null) console.log(`Not shown here, since ${noExim}: mail that Exim sends in chunks over TLS.`);

describe.if(noExim === null)('Exim', () => {
  test('checks the certificate, and sends in chunks over TLS', async () => {
    await using exim = await openExim(port);
    const log = await exim.deliver(
      'ada@customer.example',
      'support@elsewhere.test',
      aMail({ Subject: 'Exim, BDAT' }, TEXT),
    );
    // X: the TLS; CV: the certificate was verified; K: CHUNKING was used.
    expect(log).toMatch(/=> support@elsewhere\.test .* X=TLS1\.\d\S* CV=yes K C="250 2\.0\.0 Thank you"/);
    const { raw, forward } = await stored('Exim, BDAT');
    expect(raw).toContain(TEXT);
    expect(forward).toMatchObject({ protocol: 'ESMTPS', tls: expect.stringMatching(TLS) });
  });

  test('hears 550 for an address that is unknown, and gives the message back', async () => {
    await using exim = await openExim(port);
    const log = await exim.deliver('ada@customer.example', 'unknown@elsewhere.test', aMail());
    expect(log).toMatch(/\*\* unknown@elsewhere\.test .*550 5\.1\.1 No such mailbox here/);
  });
});

const swaks = Bun.which('swaks');
if (swaks === null) console.log('Not shown here, since the Debian package swaks is not installed: its mail.');

/** The exit code of swaks and what it says. */
async function bySwaks(at: number, subject: string, ...words: string[]) {
  const run = Bun.spawn(
    [
      ...[
        swaks ?? '',
        '--server',
        `127.0.0.1:${at}`,
        '--helo',
        'client.example',
        '--local-interface',
        CLIENT,
      ],
      ...['--from', 'ada@customer.example', '--to', 'support@elsewhere.test'],
      ...['--header', `Subject: ${subject}`, ...words],
    ],
    { stdout: 'pipe', stderr: 'pipe' },
  );
  const said = await new Response(run.stdout).text();
  return { said, code: await run.exited };
}

describe.if(swaks !== null)('swaks', () => {
  test('sends over TLS, and hears CHUNKING there too', async () => {
    const { said, code } = await bySwaks(port, 'swaks, TLS', '--tls');
    expect(code, said).toBe(0);
    expect(said).toMatch(/<~\s+250.CHUNKING/);
    expect((await stored('swaks, TLS')).forward).toMatchObject({ protocol: 'ESMTPS', client: CLIENT });
  });
});

test('openssl s_client verifies the chain and the name of the MX, and reads the extensions', async () => {
  const child = Bun.spawn(
    [
      ...['openssl', 's_client', '-connect', `127.0.0.1:${port}`, '-starttls', 'smtp', '-crlf'],
      ...['-CAfile', ca, '-verify_hostname', 'relay.test', '-verify_return_error', '-ign_eof'],
    ],
    { stdin: Buffer.from('EHLO client.example\nQUIT\n'), stdout: 'pipe', stderr: 'pipe' },
  );
  const said = await new Response(child.stdout).text();
  expect(await child.exited, said).toBe(0);
  expect(said).toContain('Verify return code: 0 (ok)');
  expect(said).toMatch(/^250.CHUNKING\r?$/m);
  expect(said).not.toMatch(/^250.STARTTLS/m);
  expect(said).toMatch(/^221 2\.0\.0/m);
});

test('files that are replaced are taken by the duty of every minute', async () => {
  const serial = (): string => {
    const child = Bun.spawnSync([
      ...['openssl', 's_client', '-connect', `127.0.0.1:${port}`, '-starttls', 'smtp', '-showcerts'],
    ]);
    return new X509Certificate(child.stdout.toString()).serialNumber;
  };
  const before = serial();
  const { own } = await createTestAuthority();
  const pair = await own({ notBefore: new Date(0), notAfter: new Date(Date.now() + 86_400_000) });
  const read = async () => {
    const duty = service.service.duties.find(({ name }) => name === 'certificateReader');
    await duty?.run(new AbortController().signal);
  };
  writeFileSync(join(files, 'cert.pem'), pair.cert);
  writeFileSync(join(files, 'key.pem'), pair.key);
  await read();
  const after = serial();
  writeFileSync(join(files, 'cert.pem'), CERTIFICATE);
  writeFileSync(join(files, 'key.pem'), PRIVATE_KEY);
  await read();
  expect(after).toBe(new X509Certificate(pair.cert).serialNumber);
  expect([before, serial()]).toEqual([before, before]);
});

const noProxy = haproxyMissing() ?? (swaks === null ? 'swaks is not installed' : null);
if (noProxy !== null) console.log(`Not shown here, since ${noProxy}: mail by HAProxy.`);

describe.if(noProxy === null)('HAProxy', () => {
  for (const header of ['send-proxy-v2', 'send-proxy'] as const)
    test(`finds the port healthy with ${header}, and SPF judges the client behind it`, async () => {
      await using proxy = await startHaproxy(port, BALANCER, header);
      await eventually('its check succeeds', async () => (await proxy.checked()) === 'L7OK' || undefined);
      const subject = `HAProxy, ${header}`;
      const { said, code } = await bySwaks(proxy.port, subject, '--tls');
      expect(code, said).toBe(0);
      expect(await stored(subject)).toMatchObject({
        spf: 'pass',
        forward: { client: CLIENT, protocol: 'ESMTPS' },
      });
      expect(await proxy.checked()).toBe('L7OK');
    });

  test('without the header is refused, and with it where it is not trusted', async () => {
    await using stranger = await startHaproxy(port, '127.0.0.4', 'send-proxy-v2');
    const { code } = await bySwaks(stranger.port, 'A stranger', '--tls');
    expect(code).not.toBe(0);
  });
});
