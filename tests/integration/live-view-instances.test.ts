import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Permission } from '../../src/http/auth/permissions.ts';
import { VERSION } from '../../src/platform/config/version.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { openViewer, type Viewer } from './inspector-viewer.ts';

// The live view of an instance that answers requests alone, beside another one that does the work.

let database: TestDatabase;
let watching: RealService;
let working: RealService;

beforeAll(async () => {
  database = await createTestDatabase();
  working = await startRealService({ DATABASE_URL: database.url });
  watching = await startRealService({ DATABASE_URL: database.url, ROLES: 'http' });
});
afterAll(async () => {
  await watching[Symbol.asyncDispose]();
  await working[Symbol.asyncDispose]();
  await database.close();
});

const keyWith = (env: 'test' | 'live', permissions: readonly Permission[]) =>
  working.keyWith(env, permissions);

async function send(key: string): Promise<string> {
  const { status, body } = await working.ask({
    method: 'POST',
    path: '/v1/emails',
    key,
    body: { from: 'a@example.com', to: 'delivered@simulator.svc.test', subject: 'Hello', text: 'Hi' },
  });
  expect(status).toBe(202);
  return body.data.id;
}

const listed = ({ ticks }: Viewer) => ticks.flatMap(({ sample }) => sample);
const instancesOf = ({ ticks }: Viewer) =>
  ticks.findLast(({ instances }) => instances !== null)?.instances ?? [];

/**
 * Sends until each viewer has heard of the same email, which was sent after this was called, and answers its
 * id.
 */
async function heardOf(viewers: readonly Viewer[], key: string): Promise<string> {
  const first = await send(key);
  return eventually('an email of the other instance is delivered on the page', async () => {
    const [ids = [], ...others] = viewers.map((viewer) =>
      listed(viewer).flatMap(({ id, to }) => (to === 'delivered' && id > first ? [id] : [])),
    );
    const heard = ids.find((id) => others.every((each) => each.includes(id)));
    if (heard === undefined) await send(key);
    return heard;
  });
}

test('what other instances commit is shown as it happens, each transition with its instance', async () => {
  const key = await keyWith('test', ['*']);
  using viewer = await openViewer(watching.url, key);
  const shown = await eventually('both instances are shown', () => {
    const all = instancesOf(viewer);
    return all.length === 2 ? all : undefined;
  });
  expect(shown.map(({ isThis, roles, version }) => [isThis, roles.join(), version])).toEqual([
    [false, 'http,engine,delivery', VERSION],
    [true, 'http', VERSION],
  ]);
  const since = shown.map(({ startedAt }) => startedAt ?? 0);
  expect(since).toEqual(since.toSorted((a, b) => a - b));
  expect(Math.abs(Date.now() - (since[0] ?? 0))).toBeLessThan(3_600_000);
  const id = await heardOf([viewer], key);
  const moves = listed(viewer).filter((move) => move.id === id);
  expect(moves.map(({ event, to, instance }) => [event, to, instance])).toContainEqual([
    'report.received',
    'delivered',
    shown[0]?.id ?? '',
  ]);
});

test('a viewer learns that another instance has changed an open actor', async () => {
  const key = await keyWith('test', ['*']);
  using viewer = await openViewer(watching.url, key);
  await heardOf([viewer], key);
  const { body } = await working.ask({
    method: 'POST',
    path: '/v1/emails',
    key,
    body: {
      from: 'a@example.com',
      to: 'delivered@simulator.svc.test',
      subject: 'Hello',
      text: 'Hi',
      scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
    },
  });
  const { id } = body.data;
  viewer.watch(id);
  const told = () => viewer.ticks.filter(({ changed }) => changed.includes(id)).length;
  // A change on the same instance shows that the watch has arrived.
  await eventually('it is watched', async () => {
    const scheduledAt = new Date(Date.now() + 7_200_000).toISOString();
    await watching.ask({ method: 'PATCH', path: `/v1/emails/${id}`, key, body: { scheduledAt } });
    return told() > 0 || undefined;
  });
  await working.ask({ method: 'DELETE', path: `/v1/emails/${id}`, key });
  const cancelled = await eventually('the change of the other has come', () =>
    viewer.ticks.find(({ moves }) => moves.some(({ to }) => to === 'cancelled')),
  );
  expect(cancelled.changed).toEqual([id]);
});

test('a viewer hears of its environment and the kinds that it may see alone, whichever instance commits', async () => {
  const key = await keyWith('test', ['*']);
  const [ofTest, ofLive, ofEmails] = [
    await openViewer(watching.url, key),
    await openViewer(watching.url, await keyWith('live', ['*'])),
    await openViewer(watching.url, await keyWith('test', ['emails:read'])),
  ];
  try {
    await heardOf([ofTest, ofEmails], key);
    const made = await working.ask({
      method: 'POST',
      path: '/v1/webhooks',
      key,
      body: { url: 'https://example.com/hook', events: ['bounced'] },
    });
    expect(made.status).toBe(201);
    const kindsOf = ({ ticks }: Viewer) =>
      new Set(ticks.flatMap(({ moves }) => moves.map(({ kind }) => kind)));
    await eventually('an actor of another kind', () => kindsOf(ofTest).has('webhookEndpoint') || undefined);
    // Later news come later.
    await heardOf([ofTest, ofEmails], key);
    expect(kindsOf(ofEmails)).toEqual(new Set(['email']));
    expect(new Set(listed(ofEmails).map(({ kind }) => kind))).toEqual(new Set(['email']));
    expect(listed(ofLive)).toEqual([]);
    expect(
      ofLive.ticks.flatMap(({ moves, unshown }) => [...moves, ...(unshown > 0 ? [unshown] : [])]),
    ).toEqual([]);
  } finally {
    for (const viewer of [ofTest, ofLive, ofEmails]) viewer[Symbol.dispose]();
  }
});

test("Stately's inspector hears of the other instance as well", async () => {
  const key = await keyWith('test', ['*']);
  const messages: { type: string; sessionId: string; snapshot?: { value: string } }[] = [];
  using _ = (() => {
    const socket = new WebSocket(`${watching.url.replace('http', 'ws')}/inspect`, {
      headers: { authorization: `Bearer ${key}` },
    } as never);
    socket.onmessage = ({ data }) => void messages.push(JSON.parse(String(data)));
    return { [Symbol.dispose]: () => socket.close() };
  })();
  const sent = new Set<string>();
  // Only news are shown as events; earlier actors are introduced.
  await eventually('one of them moves', async () => {
    sent.add(await send(key));
    return (
      messages.some(({ type, sessionId }) => type === '@xstate.event' && sent.has(sessionId)) || undefined
    );
  });
  expect(JSON.stringify(messages)).not.toContain('@simulator');
});
