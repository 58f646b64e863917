import { expect, jest, test } from 'bun:test';
import type { CommitListener } from '../../src/engine/engine.ts';
import type { Permission } from '../../src/http/auth/permissions.ts';
import { KeyedBudget } from '../../src/platform/async/keyed-budget.ts';
import { MOST_IDS } from '../../src/web/live/feed/changed-resources.ts';
import { PageFeed } from '../../src/web/live/feed/page-feed.ts';
import type { ChangeMessage } from '../../src/web/live/model.ts';
import { BACKLOG, PageSocket, SLOW_MS } from '../../src/web/live/page-socket.ts';
import { MOST_SHOWN } from '../../src/web/live/page-sockets.ts';

const KINDS = [
  { kind: { name: 'email' }, resource: 'emails', permission: 'emails:read' as Permission },
  { kind: { name: 'apiKey' }, resource: 'api-keys', permission: 'api-keys:read' as Permission },
];

/** A feed over an engine of which a test makes the commits, on a clock that does not move. */
function feedOf(hasOthers = false) {
  const listeners = new Set<CommitListener>();
  const feed = new PageFeed({
    engine: {
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    kinds: KINDS,
    hasOthers,
    stateCounts: { start: async () => {}, stop: () => {}, note: () => {}, counts: () => ({}) },
    others: { id: 'here', instances: [], completeness: () => 'all', join: () => () => {} },
    now: () => 0,
  });
  const commit = (name: string, id: string, scope = { workspaceId: 'ws_1', livemode: false }) => {
    for (const listener of listeners) listener({ name } as never, [{ after: { ...scope, id } } as never]);
  };
  const follow = (permissions: readonly Permission[], scope = { workspaceId: 'ws_1', livemode: false }) => {
    const heard: ChangeMessage[] = [];
    const leave = feed.follow({ scope, permissions, tell: (message) => void heard.push(message) });
    return { heard, leave };
  };
  return { feed, listeners, commit, follow };
}

test('a follower gets changes of its workspace and environment that it may see, in one message', () => {
  jest.useFakeTimers();
  const { commit, follow, feed } = feedOf();
  const owner = follow(['*']);
  const reader = follow(['emails:read']);
  const live = follow(['*'], { workspaceId: 'ws_1', livemode: true });
  const stranger = follow(['*'], { workspaceId: 'ws_2', livemode: false });
  commit('email', 'em_1');
  commit('email', 'em_1');
  commit('apiKey', 'key_1');
  commit('webhookDelivery', 'dlv_1');
  feed.note({ ...NOTED, resource: 'audit-log', permission: 'members:write', id: null });
  jest.advanceTimersByTime(250);
  expect(owner.heard).toEqual([
    { type: 'changes', changed: { emails: ['em_1'], 'api-keys': ['key_1'], 'audit-log': null } },
  ]);
  expect(reader.heard).toEqual([{ type: 'changes', changed: { emails: ['em_1'] } }]);
  // The log is one of the workspace, so both environments hear of it.
  expect(live.heard).toEqual([{ type: 'changes', changed: { 'api-keys': ['key_1'], 'audit-log': null } }]);
  expect(stranger.heard).toEqual([]);
  feed.stop();
  jest.useRealTimers();
});
const NOTED = { scope: { workspaceId: 'ws_1', livemode: false } } as const;

test('what is kept between two messages is bounded, and nothing is heard of the engine without followers', () => {
  jest.useFakeTimers();
  const { commit, follow, listeners } = feedOf();
  expect(listeners.size).toBe(0);
  const owner = follow(['*']);
  for (let each = 0; each < MOST_IDS; each++) commit('email', `em_${each}`);
  jest.advanceTimersByTime(250);
  for (let each = 0; each <= MOST_IDS; each++) commit('email', `em_${each}`);
  jest.advanceTimersByTime(250);
  const [named, beyond] = owner.heard as [ChangeMessage, ChangeMessage];
  expect(named.type === 'changes' && named.changed.emails?.length).toBe(MOST_IDS);
  expect(beyond).toEqual({ type: 'changes', changed: { emails: null } });
  owner.leave();
  expect(listeners.size).toBe(0);
  jest.useRealTimers();
});

test('a quiet connection gets a sign of life; where others work on the database, it is asked to read everything', () => {
  jest.useFakeTimers();
  const quiet = feedOf().follow(['*']);
  const shared = feedOf(true).follow(['*']);
  jest.advanceTimersByTime(10_000);
  expect(quiet.heard).toEqual([{ type: 'beat' }, { type: 'beat' }]);
  expect(shared.heard).toEqual([{ type: 'beat' }, { type: 'everything' }]);
  quiet.leave();
  shared.leave();
  jest.useRealTimers();
});

test('a slow reader gets nothing while it is full, and is then asked to read everything; one that stays full is closed', () => {
  let [buffered, now] = [0, 0];
  const sent: string[] = [];
  const closed: number[] = [];
  const access = { permissions: ['*'], visibility: null } as const;
  const socket = new PageSocket({ workspaceId: 'ws_1', livemode: false }, access, 'member', {
    feed: { follow: () => () => {}, join: () => () => {} },
    shown: { take: () => true, give: () => {} },
    readAccess: async () => access,
    monotonic: () => now,
  });
  socket.opened({
    send: (text) => sent.push(String(text)),
    close: (code) => void closed.push(code ?? 0),
    getBufferedAmount: () => buffered,
  });
  const change: ChangeMessage = { type: 'changes', changed: { emails: null } };
  buffered = BACKLOG - 1;
  socket.tell(change);
  expect(sent).toEqual([JSON.stringify(change)]);
  buffered = BACKLOG;
  socket.tell(change);
  now = SLOW_MS - 1;
  socket.tell(change);
  expect([sent.length, closed]).toEqual([1, []]);
  buffered = 0;
  socket.tell(change);
  expect(sent.at(-1)).toBe('{"type":"everything"}');
  buffered = BACKLOG;
  socket.tell(change);
  now += SLOW_MS;
  socket.tell(change);
  expect(closed).toEqual([1_011]);
  socket.closed();
});

test('so many pages of members show machines at once, and another one when one has ended', () => {
  const shown = new KeyedBudget(MOST_SHOWN);
  const pageOf = (permissions: readonly Permission[], visibility: ReadonlySet<string> | null) => {
    const sent: string[] = [];
    let joined = 0;
    const socket = new PageSocket(
      { workspaceId: 'ws_1', livemode: false },
      { permissions, visibility },
      'member',
      {
        feed: {
          follow: () => () => {},
          join: () => {
            joined++;
            return () => void joined--;
          },
        },
        shown,
        readAccess: async () => null,
        monotonic: () => 0,
      },
    );
    socket.opened({ send: (text) => sent.push(String(text)), close: () => {}, getBufferedAmount: () => 0 });
    const show = (on: boolean) => socket.received(null, JSON.stringify({ type: 'machines', on }));
    return { sent, show, joined: () => joined, close: () => socket.closed() };
  };
  const pages = Array.from({ length: MOST_SHOWN.each }, () => pageOf(['emails:read'], new Set(['email'])));
  // Asking twice is asking once.
  for (const page of pages) for (const on of [true, true]) page.show(on);
  expect(pages.map(({ joined }) => joined())).toEqual(pages.map(() => 1));
  const late = pageOf(['emails:read'], new Set(['email']));
  late.show(true);
  expect([late.joined(), late.sent]).toEqual([0, ['{"type":"full"}']]);
  pages[0]?.close();
  late.show(true);
  expect(late.joined()).toBe(1);
  pages[1]?.show(false);
  // Without emails:read nothing is shown.
  const blind = pageOf(['contacts:read'], null);
  blind.show(true);
  expect([blind.joined(), blind.sent]).toEqual([0, []]);
  for (const page of [...pages, late, blind]) page.close();
});
