import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { openSecureFront } from '../../../src/http/listen/secure-front.ts';
import { createTestAuthority } from '../../support/acme-certificates.ts';
import { eventually } from '../../support/eventually.ts';

const DAY_MS = 86_400_000;

test('a client holds so many connections of the HTTPS port and no more, until it ends one', async () => {
  const authority = await createTestAuthority();
  const { cert, key } = await authority.own({
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + DAY_MS),
  });
  await using inner = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') });
  const front = await openSecureFront({
    hostname: '127.0.0.1',
    port: 0,
    pair: { certificate: cert, key },
    behind: () => inner.port ?? 0,
    room: { total: 3, each: 2 },
  });
  const opened: TLSSocket[] = [];
  const open = async (): Promise<boolean> => {
    const socket = connect({ host: '127.0.0.1', port: front.port, rejectUnauthorized: false });
    opened.push(socket);
    socket.on('error', () => {});
    return Promise.race([
      once(socket, 'secureConnect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false);
  };
  try {
    expect([await open(), await open(), await open()]).toEqual([true, true, false]);
    opened[0]?.destroy();
    await eventually('a place', async () => ((await open()) ? true : undefined));
  } finally {
    for (const socket of opened) socket.destroy();
    front.close();
  }
});
