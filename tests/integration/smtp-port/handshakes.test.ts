import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { openSmtpServer } from '../../../src/mail/inbound/smtp-server.ts';
import { eventually } from '../../support/eventually.ts';
import { binaryHeader } from '../../support/proxy-headers.ts';
import { AUTHORITY, TestCertificate } from '../transport/certificates.ts';
import { SmtpClient } from '../transport/smtp-client.ts';

const open = (handshakeMs: number, isProxy: (address: string) => boolean = () => false) =>
  openSmtpServer(
    {
      host: '127.0.0.1',
      port: 0,
      name: 'relay.test',
      tls: new TestCertificate(),
      implicitTls: true,
      isProxy,
      onError: () => {},
      limits: { connections: 3, handshakeMs },
    },
    () => ({ authOptional: true }),
  );

test('a client that says nothing inside TLS holds a few places, and no other client up', async () => {
  const server = await open(600_000);
  let closed = 0;
  const silent = Array.from({ length: 200 }, () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    return socket.on('error', () => {}).on('close', () => closed++);
  });
  await eventually('the others are closed', () => closed === 197 || undefined);
  (await SmtpClient.open(server.port, true)).end();
  for (const socket of silent) socket.destroy();
  await server.close();
});

test('a handshake that has ended gives its place back', async () => {
  const server = await open(600_000);
  for (let n = 0; n < 4; n++) {
    const client = await SmtpClient.open(server.port, true);
    client.end();
    await client.ended;
  }
  await server.close();
});

test('clients behind a balancer have their places apart', async () => {
  const server = await open(600_000, () => true);
  const silent = Array.from({ length: 4 }, () => connect(server.port, '127.0.0.1').on('error', () => {}));
  for (const socket of silent) socket.write(binaryHeader('192.0.2.7'));
  // The fourth has no place.
  await eventually('three are left', () => silent.filter(({ closed }) => closed).length === 1 || undefined);
  const socket = connect(server.port, '127.0.0.1');
  socket.write(binaryHeader('192.0.2.8'));
  const secure = connectTls({ socket, ca: AUTHORITY, servername: 'relay.test' });
  expect((await new SmtpClient(secure).read())[0]).toStartWith('220 ');
  for (const each of [...silent, secure]) each.destroy();
  await server.close();
});

test('a handshake has its time', async () => {
  const server = await open(10);
  await once(
    connect(server.port, '127.0.0.1').on('error', () => {}),
    'close',
  );
  expect(server.port).toBeGreaterThan(0);
  await server.close();
});
