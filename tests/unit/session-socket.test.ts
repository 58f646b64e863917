import { expect, jest, test } from 'bun:test';
import { SessionEnds } from '../../src/http/auth/sessions/session-ends.ts';
import type { Session } from '../../src/http/auth/sessions/session-store.ts';
import type { SocketSession } from '../../src/http/listen/listen.ts';
import { CLOSED_AFTER_MS, SESSION_OVER } from '../../src/http/listen/session-socket.ts';
import { type AdmittedSocket, type SocketGateDeps, socketGate } from '../../src/http/listen/socket-gate.ts';

const SESSION: Session = {
  id: 'ses_1',
  subject: { kind: 'account', id: 'acc_1', workspaceId: 'ws_1', livemode: true },
  expiresAt: 0,
};

/** A gate for one session, whose handlers write down what becomes of them. */
function gateOf(admit: (admitted: AdmittedSocket) => Promise<AdmittedSocket> = async (one) => one) {
  const sessionEnds = new SessionEnds();
  const happened: (string | number)[] = [];
  const handler: SocketSession = {
    opened: () => void happened.push('opened'),
    received: () => {},
    closed: () => void happened.push('closed'),
    end: () => {},
  };
  const gate = socketGate(
    {
      sessionEnds,
      limiter: { byAddress: () => null },
      clientAddress: () => 'client',
      baseUrl: 'http://localhost:3000',
      now: () => 0,
    } as unknown as SocketGateDeps,
    {
      path: /^\/socket$/,
      most: { each: 1, workspace: 1, total: 1 },
      countedBy: 'person',
      queryOf: () => () => ({}) as never,
      admit: () => admit({ id: 'acc_1', workspaceId: 'ws_1', session: SESSION, open: () => handler }),
    },
  );
  const connect = () =>
    gate.admit(new Request('http://localhost:3000/socket'), '127.0.0.1') as Promise<SocketSession | Response>;
  const socket = { close: (code: number) => void happened.push(code) } as never;
  return { sessionEnds, happened, connect, socket };
}

async function connected({ connect }: ReturnType<typeof gateOf>): Promise<SocketSession> {
  const session = await connect();
  if (session instanceof Response) throw new Error(`It was refused with ${session.status}.`);
  return session;
}

test('the handler of an ended session is gone at once, and the connection a second later', async () => {
  jest.useFakeTimers();
  const gate = gateOf();
  const session = await connected(gate);
  session.opened(gate.socket);
  for (const other of [
    { sessionId: 'ses_2' },
    { accountId: 'acc_2' },
    { accountId: 'acc_1', except: 'ses_1' },
  ])
    gate.sessionEnds.tell(other);
  gate.sessionEnds.tell({ accountId: 'acc_1', workspaceId: 'ws_2' });
  expect(gate.happened).toEqual(['opened']);
  gate.sessionEnds.tell({ accountId: 'acc_1', workspaceId: 'ws_1' });
  expect(gate.happened).toEqual(['opened', 'closed']);
  jest.advanceTimersByTime(CLOSED_AFTER_MS);
  expect(gate.happened).toEqual(['opened', 'closed', SESSION_OVER]);
  // It holds its place until it is closed.
  expect(await gate.connect()).toBeInstanceOf(Response);
  session.closed();
  expect(await gate.connect()).not.toBeInstanceOf(Response);
  expect(gate.happened).toEqual(['opened', 'closed', SESSION_OVER]);
  jest.useRealTimers();
});

test('a session that ends before its connection is open opens no handler', async () => {
  jest.useFakeTimers();
  const gate = gateOf();
  const session = await connected(gate);
  gate.sessionEnds.tell({ sessionId: 'ses_1' });
  session.opened(gate.socket);
  jest.advanceTimersByTime(CLOSED_AFTER_MS);
  expect(gate.happened).toEqual(['closed', SESSION_OVER]);
  jest.useRealTimers();
});

test('a session that ends while it is looked at is refused', async () => {
  const gate = gateOf(async (admitted) => {
    gate.sessionEnds.tell({ sessionId: 'ses_1' });
    return admitted;
  });
  const answer = await gate.connect();
  expect(answer instanceof Response && answer.status).toBe(401);
  expect(gate.happened).toEqual([]);
});
