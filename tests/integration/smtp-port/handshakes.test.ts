import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { openSmtpServer } from '../../../src/mail/inbound/smtp-server.ts';
import { eventually } from '../../support/eventually.ts';
import { TestCertificate } from '../transport/certificates.ts';
import { SmtpClient } from '../transport/smtp-client.ts';

const open = (handshakeMs: number) =>
  openSmtpServer(
    {
      ...{ host: '127.0.0.1', port: 0, name: 'relay.test', tls: new TestCertificate(), implicitTls: true },
      ...{ onError: () => {}, limits: { connections: 3, handshakeMs } },
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

test('a handshake has its time', async () => {
  const server = await open(10);
  await once(
    connect(server.port, '127.0.0.1').on('error', () => {}),
    'close',
  );
  expect(server.port).toBeGreaterThan(0);
  await server.close();
});
