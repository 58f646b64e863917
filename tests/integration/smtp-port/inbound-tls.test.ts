import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { openSubmissionServer } from '../../../src/mail/submission/submission-server.ts';
import { createTestAuthority } from '../../support/acme-certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { AUTHORITY, TestCertificate } from '../transport/certificates.ts';
import { SmtpClient } from '../transport/smtp-client.ts';
import { openInboundSink, replies } from './inbound-sink.ts';

const certificate = new TestCertificate();
const sink = await openInboundSink({ tls: certificate });
const { messages } = sink;
afterAll(() => sink[Symbol.asyncDispose]());
beforeEach(() => void messages.splice(0));

const DAY = 86_400_000;
const otherPair = async () => {
  const { own } = await createTestAuthority();
  const { cert, key } = await own({
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(Date.now() + DAY),
  });
  return { certificate: cert, key };
};

const offers = async (port: number): Promise<readonly string[]> => {
  const client = await SmtpClient.open(port);
  const lines = await client.say('EHLO client.test');
  client.end();
  return lines.map((line) => line.slice(4));
};

/** The handshake after STARTTLS; `before` is sent in the packet of the command, in clear text. */
async function secured(port: number, before = '', options: object = {}): Promise<TLSSocket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'data');
  socket.write('EHLO client.test\r\n');
  await once(socket, 'data');
  socket.write(`STARTTLS\r\n${before}`);
  await once(socket, 'data');
  const inside = connectTls({ socket, ca: AUTHORITY, servername: 'relay.test', ...options });
  await once(inside, 'secureConnect');
  return inside;
}

describe('the port that receives mail', () => {
  test('says by which protocol, cipher and version a message came', async () => {
    const client = await sink.greeted();
    await client.startTls();
    await client.say('EHLO client.test');
    await client.say('MAIL FROM:<a@customer.example>');
    await client.say('RCPT TO:<known@sender.example>');
    client.sendOctets(Buffer.from('BDAT 14 LAST\r\nSubject: x\r\n\r\n'));
    expect((await replies(client, 1))[0]).toBe('250 2.0.0 Thank you');
    expect(messages).toMatchObject([{ protocol: 'ESMTPS' }]);
    expect(messages[0]?.tls).toMatch(/^TLS_[A-Z0-9_]+ \(TLSv1\.3\)$/);
    client.end();
    const clear = await sink.greeted();
    await clear.say('MAIL FROM:<a@customer.example>');
    await clear.say('RCPT TO:<known@sender.example>');
    clear.sendOctets(Buffer.from('BDAT 14 LAST\r\nSubject: y\r\n\r\n'));
    await replies(clear, 1);
    expect(messages[1]).toMatchObject({ protocol: 'ESMTP', tls: null });
    clear.end();
  });

  // Reported of Postfix (CVE-2011-0411), Cyrus, hMailServer, aiosmtpd and James, by its name alone or behind
  // hundreds of lines.
  test.each(['', 'NOOP\r\n'.repeat(500)])(
    'carries out no command that came in clear text behind STARTTLS (RFC 3207 4.2)',
    async (many) => {
      const injected = `${many}EHLO injected.test\r\nMAIL FROM:<i@i.example>\r\nRCPT TO:<known@sender.example>\r\n`;
      const inside = await secured(sink.server.port, injected).catch(() => null);
      if (inside === null) return;
      const client = new SmtpClient(inside);
      expect((await client.say('MAIL FROM:<a@b.example>'))[0]).toStartWith('503 ');
      expect((await client.say('EHLO client.test'))[0]).toStartWith('250-');
      expect((await client.say('DATA'))[0]).toStartWith('503 5.5.1 ');
      client.end();
    },
  );

  test('forgets what the client said before the handshake: its name, its sender and its recipients', async () => {
    const client = await sink.greeted();
    await client.say('MAIL FROM:<a@customer.example>');
    await client.say('RCPT TO:<known@sender.example>');
    client.sendOctets(Buffer.from('BDAT 5\r\nabcde'));
    await replies(client, 1);
    await client.startTls();
    expect((await client.say('MAIL FROM:<a@b.example>'))[0]).toStartWith('503 ');
    await client.say('EHLO client.test');
    client.sendOctets(Buffer.from('BDAT 1 LAST\r\nx'));
    expect((await replies(client, 1))[0]).toStartWith('503 5.5.1 ');
    expect((await client.say('STARTTLS'))[0]).toStartWith('5');
    expect(messages).toEqual([]);
    client.end();
  });

  test('speaks TLS 1.2 and 1.3, and nothing older (RFC 8996)', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const inside = await secured(sink.server.port, '', { minVersion: version, maxVersion: version });
      expect(inside.getProtocol()).toBe(version);
      inside.destroy();
    }
    const old = Bun.spawn(
      [
        'openssl',
        's_client',
        '-connect',
        `127.0.0.1:${sink.server.port}`,
        '-starttls',
        'smtp',
        '-tls1_1',
        '-cipher',
        'ALL:@SECLEVEL=0',
      ],
      { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    );
    const said = await new Response(old.stderr).text();
    expect(await old.exited).not.toBe(0);
    expect(said).toMatch(/alert protocol version|unsupported protocol/i);
  });

  test('shows a renewed certificate to the next client, and open sessions go on', async () => {
    const serial = async (): Promise<string> => {
      const inside = await secured(sink.server.port, '', { rejectUnauthorized: false });
      const { serialNumber } = inside.getPeerCertificate();
      inside.destroy();
      return serialNumber;
    };
    const before = await serial();
    const open = await sink.greeted();
    await open.startTls();
    certificate.give(await otherPair());
    expect(await serial()).not.toBe(before);
    expect((await open.say('EHLO client.test'))[0]).toStartWith('250-');
    certificate.give(new TestCertificate().current as never);
    expect(await serial()).toBe(before);
    open.end();
  });
});

test('before the first certificate STARTTLS is neither offered nor carried out, and then it is', async () => {
  const later = new TestCertificate(null);
  await using port = await openInboundSink({ tls: later });
  expect(await offers(port.server.port)).not.toContain('STARTTLS');
  const client = await port.greeted();
  expect((await client.say('STARTTLS'))[0]).toStartWith('454 4.7.0 ');
  later.give(new TestCertificate().current as never);
  expect(await offers(port.server.port)).toContain('STARTTLS');
  await client.startTls();
  expect((await client.say('EHLO client.test'))[0]).toStartWith('250-');
  client.end();
});

test('before the first certificate a submission port takes no password, and one with TLS no connection', async () => {
  const later = new TestCertificate(null);
  const shared = {
    host: '127.0.0.1',
    port: 0,
    name: 'relay.test',
    onError: () => {},
    tls: later,
    mailReader: { submission: () => Promise.reject(new Error('No message comes.')) },
    onKey: async () => ({ workspaceId: 'ws_1' }),
    onSubmit: async () => ({ id: 'em_1' }),
  };
  const [plain, implicit] = [
    await openSubmissionServer(shared),
    await openSubmissionServer({ ...shared, implicitTls: true }),
  ];
  const client = await SmtpClient.open(plain.port);
  const lines = await client.say('EHLO client.test');
  expect(lines.filter((line) => /AUTH|STARTTLS/.test(line))).toEqual([]);
  expect((await client.say('AUTH PLAIN AHN2YwBrZXk='))[0]).toStartWith('538 5.7.11 ');
  client.end();
  const refused = connect(implicit.port, '127.0.0.1');
  refused.on('error', () => {});
  await once(refused, 'close');
  later.give(new TestCertificate().current as never);
  await eventually('TLS from the first octet', async () => {
    const inside = await SmtpClient.open(implicit.port, true);
    const [reply = ''] = await inside.say('EHLO client.test');
    inside.end();
    return reply.startsWith('250-') || undefined;
  });
  await Promise.all([plain.close(), implicit.close()]);
});
