import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { SocketSession } from '../../src/http/listen/listen.ts';
import type { SessionSocket } from '../../src/http/listen/session-socket.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import type { ActorPage, Machine } from '../../src/web/live/model.ts';
import { Browser, inviteMember, setUpOwner } from '../contract/a-browser.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';

let real: RealService;
let owner: Browser;
let sent: string;
/** The connection of a page in the test environment. */
let socketPath: string;

beforeAll(async () => {
  real = await startRealService();
  owner = await setUpOwner(real);
  socketPath = `/app/api/test/changes?workspace=${real.workspaceId}`;
  const told = await owner.ask('/test/emails', {
    from: 'a@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'Hello',
    text: 'x',
  });
  expect(told.status).toBe(202);
  sent = told.body.data.id;
});
afterAll(() => real[Symbol.asyncDispose]());

/** Asks for the WebSocket of a page: a refusal, or the connection. */
const connect = (path: string, headers: Record<string, string>): Promise<Response | SocketSession> => {
  const request = new Request(`http://localhost:3000${path}`, { headers });
  const admitted = real.service.inspector.sockets.admit(request, '127.0.0.1');
  if (!admitted) throw new Error('The path is not known.');
  return admitted;
};
const statusOf = async (path: string, headers: Record<string, string>): Promise<number> => {
  const answer = await connect(path, headers);
  if (answer instanceof Response) return answer.status;
  answer.closed();
  return 101;
};

test('a member sees the machines of the environment that the address names, and of no other', async () => {
  const { body } = await owner.ask('/test/machines');
  expect((body.data as readonly Machine[]).map(({ kind }) => kind)).toContain('email');
  const ids = async (environment: string) =>
    ((await owner.ask(`/${environment}/actors?kind=email`)).body.data as ActorPage).actors.map(
      ({ id }) => id,
    );
  expect(await ids('test')).toEqual([sent]);
  expect(await ids('live')).toEqual([]);
  expect((await owner.ask(`/test/actors/${sent}`)).status).toBe(200);
  expect((await owner.ask(`/live/actors/${sent}`)).status).toBe(404);
});

test('a viewer sees what the role may read; other people are refused, and keys', async () => {
  const { browser } = await inviteMember(real, owner, 'viewer');
  expect((await browser.ask(`/test/actors/${sent}`)).status).toBe(200);
  expect(await statusOf(socketPath, { cookie: browser.cookie })).toBe(101);
  const stranger = new Browser(real);
  const key = await real.keyWith('test', ['emails:read']);
  const cookie = await real.service.inspector.deps.inspectorSessions.begin(
    { key },
    new Headers(),
    '192.0.2.1',
  );
  const byKey = { cookie: String(cookie).split(';')[0] ?? '' };
  for (const path of ['/test/machines', '/test/actors?kind=email', `/test/actors/${sent}`]) {
    expect((await stranger.ask(path)).status).toBe(401);
    expect((await real.ask({ method: 'GET', path: `/app/api${path}`, headers: byKey })).status).toBe(403);
  }
  expect(await statusOf(socketPath, {})).toBe(401);
  expect(await statusOf(socketPath, byKey)).toBe(401);
  expect(await statusOf(socketPath, { authorization: `Bearer ${key}` })).toBe(401);
  expect(await statusOf(socketPath, { cookie: owner.cookie, origin: 'https://a.example' })).toBe(403);
});

test('the connection is in the environment of its address and the workspace of its page', async () => {
  for (const [environment, livemode] of [
    ['test', false],
    ['live', true],
  ] as const) {
    const path = `/app/api/${environment}/changes?workspace=${real.workspaceId}`;
    const socket = (await connect(path, { cookie: owner.cookie })) as SessionSocket;
    expect(socket.session.subject).toMatchObject({ workspaceId: real.workspaceId, livemode });
    socket.closed();
  }
  const foreign = '/app/api/test/changes?workspace=ws_01m7xhns80b7w3sdg5jc4356';
  // As any request that names a workspace of others.
  expect(await statusOf(foreign, { cookie: owner.cookie })).toBe(404);
});

test('a connection is over once its browser has turned to another workspace', async () => {
  const { inspectorSessions } = real.service.inspector.deps;
  const session = await inspectorSessions.of(new Headers({ cookie: owner.cookie }), null);
  if (!session || session instanceof Failure) throw new Error('The owner has no session.');
  expect(await inspectorSessions.visibilityNow(session)).not.toBeNull();
  const made = await owner.ask('/workspaces', { name: 'Other' });
  expect((await owner.ask(`/workspaces/${made.body.data.id}/switch`, {})).status).toBe(200);
  expect(await inspectorSessions.visibilityNow(session)).toBeNull();
});
