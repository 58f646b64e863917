import { expect, test } from 'bun:test';
import { SessionEnds } from '../../../src/http/auth/sessions/session-ends.ts';
import type { SocketSession } from '../../../src/http/listen/listen.ts';
import { guestSockets, MOST_GUESTS, type PageSocketsDeps } from '../../../src/web/live/page-sockets.ts';

/** A gate whose visitors say in a header which key, of which workspace, they hold. */
function openUpgrade() {
  const sessionOf = async (headers: Headers) => {
    const [workspaceId = '', id = ''] = headers.get('x-key')?.split(' ') ?? [];
    return {
      subject: { kind: 'key', id, workspaceId, livemode: false },
      expiresAt: 0,
      visibility: new Set(),
    };
  };
  const upgrade = guestSockets({
    sessions: { of: sessionOf },
    limiter: { byAddress: () => null },
    clientAddress: () => 'client',
    sessionEnds: new SessionEnds(),
    baseUrl: 'http://localhost:3000',
    now: () => 0,
  } as unknown as PageSocketsDeps);
  const ask = async (key: string, path = '/inspector/live'): Promise<SocketSession | Response> => {
    const request = new Request(`http://localhost:3000${path}`, { headers: { 'x-key': key } });
    const admitted = await upgrade.admit(request, '127.0.0.1');
    if (admitted === null) throw new Error('The path is not known.');
    return admitted;
  };
  const open = async (key: string, count: number): Promise<readonly SocketSession[]> => {
    const sockets = await Promise.all(
      Array.from({ length: count }, (_, i) => ask(key, i % 2 === 0 ? '/inspector/live' : '/inspect')),
    );
    return sockets.map((socket) => {
      if (socket instanceof Response) throw new Error(`A connection was refused with ${socket.status}.`);
      return socket;
    });
  };
  return { ask, open };
}

async function refusal(
  answer: SocketSession | Response,
): Promise<{ status: number; message: string; retry: string | null }> {
  if (!(answer instanceof Response)) throw new Error('The connection was taken.');
  const { error } = (await answer.json()) as { error: { message: string } };
  return { status: answer.status, message: error.message, retry: answer.headers.get('retry-after') };
}

test('one key may open twenty live view connections; other keys are not affected', async () => {
  const { ask, open } = openUpgrade();
  const sockets = await open('ws_1 key_1', MOST_GUESTS.each);
  expect(MOST_GUESTS.each).toBe(20);
  const reply = await refusal(await ask('ws_1 key_1'));
  expect(reply).toMatchObject({ status: 429, retry: '30' });
  expect(reply.message).toContain('At most 20 connections per API key or link');
  await open('ws_1 key_2', 1);
  sockets[0]?.closed();
  await open('ws_1 key_1', 1);
  expect((await refusal(await ask('ws_1 key_1'))).status).toBe(429);
});

test('one workspace may open fifty live view connections with all its keys; others are not affected', async () => {
  const { ask, open } = openUpgrade();
  for (const [key, count] of [
    ['key_1', 20],
    ['key_2', 20],
    ['key_3', 10],
  ] as const)
    await open(`ws_1 ${key}`, count);
  const reply = await refusal(await ask('ws_1 key_3'));
  expect([reply.status, reply.message]).toEqual([
    429,
    'At most 50 connections per workspace can be open at once.',
  ]);
  await open('ws_2 key_4', 20);
});

test('all workspaces together may open two hundred live view connections', async () => {
  const { ask, open } = openUpgrade();
  for (let workspace = 0; workspace < 4; workspace++)
    for (const [key, count] of [
      ['a', 20],
      ['b', 20],
      ['c', 10],
    ] as const)
      await open(`ws_${workspace} key_${workspace}${key}`, count);
  expect(await refusal(await ask('ws_9 key_9'))).toMatchObject({ status: 503, retry: '30' });
});

test('an unknown query parameter is refused, but not at the address of other programs, nor before the workspace is known', async () => {
  const { ask } = openUpgrade();
  for (const path of ['/inspector/live', '/inspector/live?ticket=a&workspace=ws_1', '/inspect?anything=1'])
    expect([path, (await ask('ws_1 key_1', path)) instanceof Response]).toEqual([path, false]);
  for (const query of ['anything=1', 'ticket=a&ticket=b', 'ticket=%00']) {
    const reply = await ask('ws_1 key_1', `/inspector/live?${query}`);
    expect([query, reply instanceof Response && reply.status]).toEqual([query, 422]);
  }
  const foreign = await ask('ws_1 key_1', '/inspector/live?workspace=ws_2&anything=1');
  expect(foreign instanceof Response && foreign.status).toBe(409);
});
