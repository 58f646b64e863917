import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { eximMissing, openExim } from '../../support/exim.ts';
import { haproxyMissing, startHaproxy } from '../../support/haproxy.ts';
import { swaksMissing } from '../../support/swaks.ts';
import { aMail, handIn } from '../received-door.ts';
import { AUTHORITY, TestCertificate } from '../transport/certificates.ts';
import { postfixMissing, startPostfix } from '../transport/postfix.ts';
import { type InboundSink, openInboundSink } from './inbound-sink.ts';

// Real programs hand mail in over TLS, in chunks and behind a balancer.

const BALANCER = '127.0.0.2';
const CLIENT = '127.0.0.3';
const TLS = /^TLS_[A-Z0-9_]+ \(TLSv1\.[23]\)$/;
const TEXT = `.\r\n..\r\nQUIT\r\n${'long '.repeat(180)}\r\n`.repeat(300);
const files = mkdtempSync(join(tmpdir(), 'posthorn-port-'));
const ca = join(files, 'ca.pem');
let sink: InboundSink;
let port: number;

beforeAll(async () => {
  writeFileSync(ca, AUTHORITY);
  sink = await openInboundSink({ tls: new TestCertificate(), isProxy: (address) => address === BALANCER });
  port = sink.server.port;
});
afterAll(async () => {
  await sink[Symbol.asyncDispose]();
  rmSync(files, { recursive: true });
});

/** The message with a subject. */
const taken = (subject: string) =>
  eventually(
    `"${subject}" has come`,
    () => sink.messages.find(({ raw }) => raw.includes(`Subject: ${subject}\r\n`)),
    { withinMs: 60_000 },
  );

/** The exit code of a program and what it says. */
async function run(...command: readonly string[]) {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' });
  const said = await new Response(child.stdout).text();
  return { said, code: await child.exited };
}

const noPostfix = postfixMissing();
if (noPostfix !== null) console.log(`Not shown here, since ${noPostfix}: mail that Postfix sends over TLS.`);

describe.if(noPostfix === null)('Postfix', () => {
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
    const raw = aMail({ Subject: 'By Postfix' }, TEXT);
    const said = await handIn(postfix.port, 'ada@customer.example', ['known@elsewhere.test'], raw);
    expect(said.at(-1)).toStartWith('250 ');
    const message = await taken('By Postfix');
    expect(message).toMatchObject({ protocol: 'ESMTPS', tls: expect.stringMatching(TLS) });
    expect(message.raw).toContain(TEXT);
  });
});

const noExim = eximMissing();
if (noExim !== null) console.log(`Not shown here, since ${noExim}: mail that Exim sends in chunks over TLS.`);

describe.if(noExim === null)('Exim', () => {
  test('checks the certificate, sends in chunks over TLS, and hears of unknown addresses', async () => {
    await using exim = await openExim(port);
    const raw = aMail({ Subject: 'By Exim' }, TEXT);
    const log = await exim.deliver('ada@customer.example', 'known@elsewhere.test', raw);
    // X: the TLS; CV: the certificate was verified; K: the message went in chunks.
    expect(log).toMatch(/=> known@elsewhere\.test .* X=TLS1\.\d\S* CV=yes K C="250 2\.0\.0 Thank you"/);
    const message = await taken('By Exim');
    expect(message).toMatchObject({ protocol: 'ESMTPS', tls: expect.stringMatching(TLS) });
    expect(message.raw).toContain(TEXT);
    expect(await exim.deliver('ada@customer.example', 'unknown@elsewhere.test', aMail())).toMatch(
      /\*\* unknown@elsewhere\.test .*550 5\.1\.1 No such mailbox here/,
    );
  });
});

const noSwaks = swaksMissing({ tls: true });
if (noSwaks !== null) console.log(`Not shown here, since ${noSwaks}: its mail.`);

const bySwaks = (at: number, subject: string) =>
  run(
    'swaks',
    '--server',
    `127.0.0.1:${at}`,
    '--helo',
    'client.example',
    '--timeout',
    '20',
    '--local-interface',
    CLIENT,
    '--from',
    'ada@customer.example',
    '--to',
    'known@elsewhere.test',
    '--header',
    `Subject: ${subject}`,
    '--tls',
  );

describe.if(noSwaks === null)('swaks', () => {
  test('sends over TLS, and sees the extensions there', async () => {
    const { said, code } = await bySwaks(port, 'By swaks');
    expect(code, said).toBe(0);
    expect(said).toMatch(/<~\s+250.CHUNKING/);
    expect(await taken('By swaks')).toMatchObject({ protocol: 'ESMTPS', client: CLIENT });
  });
});

test('openssl s_client verifies the chain and the name of the MX', async () => {
  const { said } = await run(
    'openssl',
    's_client',
    '-connect',
    `127.0.0.1:${port}`,
    '-starttls',
    'smtp',
    '-CAfile',
    ca,
    '-verify_hostname',
    'relay.test',
    '-verify_return_error',
  );
  expect(said).toContain('Verify return code: 0 (ok)');
});

const noProxy = haproxyMissing() ?? noSwaks;
if (noProxy !== null) console.log(`Not shown here, since ${noProxy}: mail by HAProxy.`);

describe.if(noProxy === null)('HAProxy', () => {
  for (const header of ['send-proxy-v2', 'send-proxy'] as const)
    test(`finds the port healthy with ${header}, and names the client behind it`, async () => {
      await using proxy = await startHaproxy(port, BALANCER, header);
      await eventually('its check succeeds', async () => (await proxy.checked()) === 'L7OK' || undefined);
      const { said, code } = await bySwaks(proxy.port, `By ${header}`);
      expect(code, said).toBe(0);
      expect(await taken(`By ${header}`)).toMatchObject({ client: CLIENT, protocol: 'ESMTPS' });
      expect(await proxy.checked()).toBe('L7OK');
    });

  test('whose address is not trusted brings no mail', async () => {
    await using stranger = await startHaproxy(port, '127.0.0.4', 'send-proxy-v2');
    expect((await bySwaks(stranger.port, 'By a stranger')).code).not.toBe(0);
    expect(sink.messages.some(({ raw }) => raw.includes('By a stranger'))).toBe(false);
  });
});
