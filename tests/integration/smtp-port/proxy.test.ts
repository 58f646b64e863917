import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { takeProxyHeader } from '../../../src/mail/inbound/port/proxied-socket.ts';
import { LOCAL_HEADER } from '../../../src/mail/inbound/port/proxy-header.ts';
import { openSubmissionServer } from '../../../src/mail/submission/submission-server.ts';
import { eventually } from '../../support/eventually.ts';
import { binaryHeader } from '../../support/proxy-headers.ts';
import { TestCertificate } from '../transport/certificates.ts';
import { SmtpClient } from '../transport/smtp-client.ts';
import { openInboundSink, replies } from './inbound-sink.ts';

const behind = await openInboundSink({
  tls: new TestCertificate(),
  isProxy: (address) => address === '127.0.0.1',
  limits: { connections: 2 },
});
const open = await openInboundSink({ isProxy: (address) => address === '192.0.2.200' });
const { messages, errors } = behind;
afterAll(() => Promise.all([behind[Symbol.asyncDispose](), open[Symbol.asyncDispose]()]));
beforeEach(() => {
  messages.splice(0);
  errors.splice(0);
});

/** A connection whose first octets are these. */
async function beginning(octets: Uint8Array, port = behind.server.port): Promise<SmtpClient> {
  const socket = connect(port, '127.0.0.1');
  socket.write(octets);
  const client = new SmtpClient(socket);
  await client.read();
  return client;
}

/** All that a server says to a connection, up to its end. */
async function allSaid(port: number, pieces: readonly Uint8Array[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (octets) => {
    said += octets.toString('latin1');
  });
  socket.on('error', () => {});
  for (const piece of pieces) socket.write(piece);
  await once(socket, 'close');
  return said;
}

const MAIL = 'EHLO client.test\r\nMAIL FROM:<a@customer.example>\r\nRCPT TO:<known@sender.example>\r\n';

async function handIn(client: SmtpClient): Promise<void> {
  await client.say('EHLO client.test');
  await client.say('MAIL FROM:<a@customer.example>');
  await client.say('RCPT TO:<known@sender.example>');
  client.sendOctets(Buffer.from('BDAT 14 LAST\r\nSubject: x\r\n\r\n'));
  expect((await replies(client, 1))[0]).toBe('250 2.0.0 Thank you');
  client.end();
}

describe('behind a balancer that is trusted', () => {
  test.each([
    ['192.0.2.7', binaryHeader('192.0.2.7')],
    ['2001:db8::7', binaryHeader('2001:db8::7')],
    ['192.0.2.8', Buffer.from('PROXY TCP4 192.0.2.8 192.0.2.1 4711 25\r\n')],
    // A health check that hands a message in is the balancer's own.
    ['127.0.0.1', binaryHeader(null)],
    ['127.0.0.1', Buffer.from(LOCAL_HEADER, 'latin1')],
    ['127.0.0.1', Buffer.from('PROXY UNKNOWN\r\n')],
  ])('a message is of the client %s that the header names', async (client, header) => {
    await handIn(await beginning(header));
    expect(messages).toMatchObject([{ client }]);
  });

  test('the header may come octet by octet', async () => {
    const socket = connect(behind.server.port, '127.0.0.1');
    const client = new SmtpClient(socket.setNoDelay());
    const greeting = client.read();
    for (const octet of binaryHeader('192.0.2.7')) {
      client.sendOctets(Buffer.of(octet));
      await client.flushed();
    }
    await greeting;
    await handIn(client);
    expect(messages).toMatchObject([{ client: '192.0.2.7' }]);
  });

  test('STARTTLS follows it, and the client is the same inside', async () => {
    const client = await beginning(binaryHeader('192.0.2.7'));
    await client.say('EHLO client.test');
    await client.startTls();
    await handIn(client);
    expect(messages).toMatchObject([{ client: '192.0.2.7', protocol: 'ESMTPS' }]);
  });

  test('each client has its own limit of connections', async () => {
    const first = await Promise.all([1, 2].map(() => beginning(binaryHeader('192.0.2.9'))));
    const socket = connect(behind.server.port, '127.0.0.1');
    socket.write(binaryHeader('192.0.2.9'));
    expect((await new SmtpClient(socket).read())[0]).toStartWith('421 4.7.0 ');
    const other = await beginning(binaryHeader('192.0.2.10'));
    for (const client of [...first, other]) client.end();
    socket.destroy();
  });

  test('a connection without a header is ended without a word, and so is one with a broken one', async () => {
    const broken = [
      Buffer.from('EHLO client.test\r\n'),
      Buffer.from('PROXY TCP4 mail.example 192.0.2.1 1 2\r\n'),
      binaryHeader('192.0.2.7', { command: 2 }),
      Buffer.from([0x16, 3, 1, 2, 0]),
    ];
    for (const octets of broken) expect(await allSaid(behind.server.port, [octets])).toBe('');
    expect(errors.map(({ message }) => message)).toEqual(
      broken.map(() => 'No PROXY header came from 127.0.0.1, which SMTP_TRUST_PROXY names.'),
    );
  });

  test('a check that connects and hangs up, before the header or behind it, is no fault of the next one', async () => {
    for (const octets of [Buffer.alloc(0), binaryHeader(null).subarray(0, 7), binaryHeader(null)])
      for (const isReset of [false, true]) {
        const socket = connect(behind.server.port, '127.0.0.1').on('error', () => {});
        await once(socket, 'connect');
        if (isReset) socket.write(octets, () => socket.resetAndDestroy());
        else socket.end(octets);
        socket.resume();
        await once(socket, 'close');
      }
    await handIn(await beginning(binaryHeader('192.0.2.7')));
  });

  test('a second header is a command that is not known', async () => {
    const client = await beginning(binaryHeader('192.0.2.7'));
    expect((await client.say('PROXY TCP4 192.0.2.8 192.0.2.1 4711 25'))[0]).toStartWith('500 ');
    await handIn(client);
    expect(messages).toMatchObject([{ client: '192.0.2.7' }]);
  });
});

describe('a client that is no balancer of ours', () => {
  test.each([
    ['version 1', Buffer.from('PROXY TCP4 192.0.2.8 192.0.2.1 4711 25\r\n')],
    ['version 2', binaryHeader('192.0.2.8')],
  ])('cannot choose its address by a header of %s', async (_, header) => {
    expect(await allSaid(open.server.port, [header, Buffer.from(`${MAIL}QUIT\r\n`)])).toMatch(
      /^(?:220[^\n]*\n)?(?:421|500) /,
    );
    const client = await open.greeted();
    expect((await client.say('PROXY TCP4 192.0.2.8 192.0.2.1 4711 25'))[0]).toStartWith('500 ');
    await handIn(client);
    expect(open.messages.splice(0)).toMatchObject([{ client: '127.0.0.1' }]);
  });
});

describe('the submission ports behind a balancer', () => {
  const clients: string[] = [];
  /**
   * Puts a header before what a client says first, in one packet: a client with TLS speaks before the server.
   */
  const balancer = (to: number): Promise<Server> => {
    const server = createServer((client: Socket) => {
      const upstream = connect(to, '127.0.0.1');
      client.once('data', (first: Buffer) => {
        upstream.write(Buffer.concat([binaryHeader('192.0.2.7'), first]));
        client.pipe(upstream);
      });
      upstream.pipe(client);
      for (const socket of [client, upstream]) socket.on('error', () => {});
    }).listen(0, '127.0.0.1');
    return once(server, 'listening').then(() => server);
  };
  const shared = {
    host: '127.0.0.1',
    port: 0,
    name: 'relay.test',
    onError: () => {},
    tls: new TestCertificate(),
    mailReader: { submission: () => Promise.reject(new Error('No message comes.')) },
    isProxy: () => true,
    onKey: async (_: string, client: string) => {
      clients.push(client);
      return { workspaceId: 'ws_1' };
    },
    onSubmit: async () => ({ id: 'em_1' }),
  };

  // Reported of OpenSMTPD: the handshake in the packet of the header was lost, and never ended.
  test('know the client when the TLS handshake comes in the packet of the header', async () => {
    const port = await openSubmissionServer({ ...shared, implicitTls: true });
    const server = await balancer(port.port);
    const client = await SmtpClient.open((server.address() as AddressInfo).port, true);
    await client.say('EHLO client.test');
    expect((await client.say('AUTH PLAIN AHN2YwBrZXk='))[0]).toStartWith('235 ');
    expect(clients.splice(0)).toEqual(['192.0.2.7']);
    client.end();
    server.close();
    await port.close();
  });

  test('know the client who signs in after STARTTLS', async () => {
    const port = await openSubmissionServer(shared);
    const client = await beginning(binaryHeader('2001:db8::7'), port.port);
    await client.say('EHLO client.test');
    await client.startTls();
    await client.say('EHLO client.test');
    expect((await client.say('AUTH PLAIN AHN2YwBrZXk='))[0]).toStartWith('235 ');
    expect(clients.splice(0)).toEqual(['2001:db8::7']);
    client.end();
    await port.close();
  });
});

test('a header has so much time in all, however often an octet of it comes', async () => {
  const ended = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    takeProxyHeader(socket, (error) => ended.resolve(error?.message ?? 'a header'), 200);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  const drip = setInterval(() => client.write('x'), 20);
  client.write('PROXY UNKNOWN ');
  expect(await ended.promise).toBe(
    'No PROXY header came in time from 127.0.0.1, which SMTP_TRUST_PROXY names.',
  );
  clearInterval(drip);
  client.destroy();
  server.close();
});

test('connections that never bring a header are bounded in number', async () => {
  const silent = Array.from({ length: 210 }, () => connect(behind.server.port, '127.0.0.1'));
  for (const socket of silent) socket.on('error', () => {});
  // Of 210 the port keeps 200, and ends the others at once.
  await eventually('ten are ended', () => silent.filter(({ closed }) => closed).length >= 10 || undefined);
  for (const socket of silent) socket.destroy();
  await eventually('the port answers again', async () => {
    const client = await beginning(binaryHeader('192.0.2.7')).catch(() => null);
    client?.end();
    return client === null ? undefined : true;
  });
});
