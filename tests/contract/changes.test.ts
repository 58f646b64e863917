import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SESSION_OVER } from '../../src/http/listen/session-socket.ts';
import type { PageMessage, ServiceMessage, Tick } from '../../src/web/live/model.ts';
import { MOST_MEMBERS } from '../../src/web/live/page-sockets.ts';
import { eventually } from '../support/eventually.ts';
import { Browser, inviteMember, ORIGIN, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let owner: Browser;

beforeAll(async () => {
  service = await startRealService();
  owner = await setUpOwner(service);
});
afterAll(() => service?.[Symbol.asyncDispose]());

const pathOf = (environment: string, workspaceId = service.workspaceId) =>
  `/app/api/${environment}/changes?workspace=${workspaceId}`;

/** A page that follows what changes. */
function follow({ cookie }: Browser, environment: 'live' | 'test') {
  const socket = new WebSocket(service.url.replace('http', 'ws') + pathOf(environment), {
    headers: { cookie, origin: ORIGIN },
  } as never);
  const heard: ServiceMessage[] = [];
  socket.onmessage = ({ data }) => void heard.push(JSON.parse(String(data)) as ServiceMessage);
  const opened = new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`It was refused. The log:\n${service.logged().slice(-4_000)}`));
  });
  const { promise: closed, resolve } = Promise.withResolvers<number>();
  socket.onclose = ({ code }) => resolve(code);
  const changed = () => heard.flatMap((message) => (message.type === 'changes' ? [message.changed] : []));
  const ticks = () => heard.filter((message): message is Tick => message.type === 'tick');
  const send = (message: PageMessage) => socket.send(JSON.stringify(message));
  return { opened, closed, changed, ticks, send, close: () => socket.close() };
}

/** Asks for the handshake, and is refused. */
async function refused(path: string, headers: Record<string, string>) {
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  const reply = await fetch(service.url + path, { headers: { ...upgrade, ...key, ...headers } });
  const { error } = (await reply.json()) as { error: { code: string } };
  return [reply.status, error.code];
}

test('following is refused without a session, from another site, with a key or in another workspace', async () => {
  const { cookie } = owner;
  const key = await service.keyWith('live', ['*']);
  expect(await refused(pathOf('live'), {})).toEqual([401, 'UNAUTHORIZED']);
  expect(await refused(pathOf('live'), { authorization: `Bearer ${key}` })).toEqual([401, 'UNAUTHORIZED']);
  expect(await refused(pathOf('live'), { cookie, origin: 'https://evil.example' })).toEqual([
    403,
    'FORBIDDEN',
  ]);
  expect(await refused(pathOf('live', 'ws_other'), { cookie, origin: ORIGIN })).toEqual([404, 'NOT_FOUND']);
  expect(await refused('/app/api/live/changes', { cookie, origin: ORIGIN })).toEqual([404, 'NOT_FOUND']);
});

test('commits of the engine and acts of people reach those who may see them, in their environment', async () => {
  const { browser: viewer } = await inviteMember(service, owner, 'viewer');
  const [live, test, reader] = [follow(owner, 'live'), follow(owner, 'test'), follow(viewer, 'test')];
  await Promise.all([live.opened, test.opened, reader.opened]);
  const sent = await owner.ask('/test/emails', {
    from: 'a@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'x',
    text: 'x',
  });
  const { id } = sent.body.data;
  for (const page of [test, reader])
    await eventually('the email', async () => page.changed().find(({ emails }) => emails?.includes(id)));
  const contact = await owner.ask('/test/contacts', { email: 'eve@example.com' });
  await eventually('the contact', async () =>
    reader.changed().find(({ contacts }) => contacts?.includes(contact.body.data.id)),
  );
  // The audit log is one for both environments, and not for viewers.
  await eventually('the log', async () => live.changed().find((each) => 'audit-log' in each));
  expect(live.changed().some((each) => 'emails' in each || 'contacts' in each)).toBe(false);
  expect(reader.changed().some((each) => 'audit-log' in each)).toBe(false);
  for (const page of [live, test, reader]) page.close();
});

test('the same connection shows machines of its environment while the page asks for them', async () => {
  const { browser: viewer } = await inviteMember(service, owner, 'viewer');
  const [live, quiet, reader] = [follow(owner, 'live'), follow(owner, 'test'), follow(viewer, 'test')];
  await Promise.all([live.opened, quiet.opened, reader.opened]);
  for (const page of [live, reader]) page.send({ type: 'machines', on: true });
  for (const page of [live, reader]) await eventually('the first tick', async () => page.ticks()[0]);
  const message = { from: 'a@example.com', to: 'delivered@simulator.svc.test', subject: 'x', text: 'x' };
  const { id } = (await owner.ask('/test/emails', message)).body.data;
  const sampled = (page: ReturnType<typeof follow>) => page.ticks().flatMap(({ sample }) => sample);
  await eventually('the move', async () => sampled(reader).find((move) => move.id === id));
  await eventually('the name', async () => quiet.changed().find(({ emails }) => emails?.includes(id)));
  expect(sampled(live)).toEqual([]);
  expect(quiet.ticks()).toEqual([]);
  reader.send({ type: 'machines', on: false });
  const second = (await owner.ask('/test/emails', message)).body.data;
  await eventually('the name', async () =>
    reader.changed().find(({ emails }) => emails?.includes(second.id)),
  );
  expect(sampled(reader).some((move) => move.id === second.id)).toBe(false);
  for (const page of [live, quiet, reader]) page.close();
});

test('one person has so many connections open, and another one when one has ended', async () => {
  const { browser } = await inviteMember(service, owner, 'member');
  const pages = Array.from({ length: MOST_MEMBERS.each }, () => follow(browser, 'live'));
  await Promise.all(pages.map(({ opened }) => opened));
  const { cookie } = browser;
  expect(await refused(pathOf('live'), { cookie, origin: ORIGIN })).toEqual([429, 'RATE_LIMITED']);
  pages.pop()?.close();
  const again = await eventually('another one', async () => {
    const page = follow(browser, 'live');
    return page.opened.then(
      () => page,
      () => undefined,
    );
  });
  for (const page of [...pages, again]) page.close();
});

/** The ways in which a session ends, by its own person or by another one. */
const ENDS: Readonly<Record<string, (person: Awaited<ReturnType<typeof inviteMember>>) => Promise<unknown>>> =
  {
    'who signs out': ({ browser }) => browser.ask('/session', {}, 'DELETE'),
    'a second sign-in': ({ browser, email }) => browser.signIn(email),
    'who is signed out from another browser': async ({ email }) => {
      const other = new Browser(service);
      await other.signIn(email);
      await other.ask('/account/sessions', {}, 'DELETE');
    },
    'who is removed': ({ id }) => owner.ask(`/live/members/${id}`, {}, 'DELETE'),
  };

test.each(Object.entries(ENDS))('after %s, an open page gets no more changes', async (_, end) => {
  const person = await inviteMember(service, owner, 'member');
  const [page, another] = [follow(person.browser, 'test'), follow(owner, 'test')];
  await Promise.all([page.opened, another.opened]);
  await end(person);
  const message = { from: 'a@example.com', to: 'delivered@simulator.svc.test', subject: 'x', text: 'x' };
  const { id } = (await owner.ask('/test/emails', message)).body.data;
  await eventually('others hear of it', async () =>
    another.changed().find(({ emails }) => emails?.includes(id)),
  );
  expect(await page.closed).toBe(SESSION_OVER);
  expect(page.changed().some(({ emails }) => emails?.includes(id))).toBe(false);
  another.close();
});
