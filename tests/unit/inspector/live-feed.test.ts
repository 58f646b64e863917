import { afterEach, describe, expect, jest, test } from 'bun:test';
import type { CommitListener } from '../../../src/engine/engine.ts';
import type { Draft } from '../../../src/engine/machine/draft.ts';
import type { Kind } from '../../../src/engine/machine/kind.ts';
import type { Scope } from '../../../src/engine/machine/result.ts';
import { MODULE_KINDS } from '../../../src/modules.ts';
import type { HeardListener } from '../../../src/web/live/exchange/incoming.ts';
import type { Viewer } from '../../../src/web/live/feed/machine-viewers.ts';
import { PageFeed } from '../../../src/web/live/feed/page-feed.ts';
import type { Counts, NewsCompleteness, Tick } from '../../../src/web/live/model.ts';
import { visibilityAmong } from '../../../src/web/live/visibility.ts';

const TEST = { workspaceId: 'ws_1', livemode: false };
const LIVE = { workspaceId: 'ws_1', livemode: true };
const kind = { name: 'email' } as Kind;

afterEach(() => {
  jest.useRealTimers();
});

function stage() {
  jest.useFakeTimers();
  const listeners = new Set<CommitListener>();
  const heard = new Set<HeardListener>();
  const others = {
    id: 'here',
    instances: [],
    completeness: () => 'all' as NewsCompleteness,
    join(_scope: Scope, listener: HeardListener) {
      heard.add(listener);
      return () => void heard.delete(listener);
    },
  };
  const stateCounts = { counting: 0, counts: {} as Counts };
  const liveFeed = new PageFeed({
    engine: {
      listen(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    kinds: [],
    hasOthers: false,
    stateCounts: {
      start: async () => void stateCounts.counting++,
      stop: () => void stateCounts.counting--,
      note: () => {},
      counts: () => stateCounts.counts,
    },
    others,
    now: () => 0,
  });
  const commit = (id: string, steps: readonly (readonly [string | null, string, string])[], scope = TEST) => {
    const told = steps.map(([from, event, to]) => ({ from, event, to, at: 1, attempt: null, effects: [] }));
    const draft = { after: { id, ...scope }, steps: told } as never as Draft;
    for (const listener of listeners) listener(kind, [draft]);
  };
  return {
    listeners,
    others,
    heard,
    stateCounts,
    liveFeed,
    commit,
    turn: () => jest.advanceTimersByTime(250),
  };
}

const visibilityOf = visibilityAmong(MODULE_KINDS);

function viewer(
  scope = TEST,
  watched: string | null = null,
  visibility = visibilityOf(['*']),
): Viewer & { readonly ticks: Tick[]; isFull: boolean } {
  const ticks: Tick[] = [];
  return {
    scope,
    visibility,
    watched,
    ticks,
    isFull: false,
    show: (text) => void ticks.push(JSON.parse(text)),
  };
}

describe('the live feed', () => {
  test('listens to the engine only while it has viewers', () => {
    const { listeners, stateCounts, liveFeed } = stage();
    expect(listeners.size).toBe(0);
    const leaves = [viewer(), viewer(), viewer(LIVE)].map((one) => liveFeed.join(one));
    expect([listeners.size, stateCounts.counting]).toEqual([1, 1]);
    for (const leave of leaves) leave();
    expect([listeners.size, stateCounts.counting]).toEqual([0, 0]);
    // Leaving twice is leaving once.
    leaves[0]?.();
    expect([listeners.size, stateCounts.counting]).toEqual([0, 0]);
  });

  test('counts repeated moves, samples a dozen actors, and sends each tick once', () => {
    const { liveFeed, commit, turn } = stage();
    const one = viewer();
    liveFeed.join(one);
    turn();
    for (let index = 0; index < 1_000; index++) commit(`em_${index}`, [[null, 'spawned', 'sending']]);
    commit('em_1', [['sending', 'attempt.completed', 'sent']]);
    turn();
    turn();
    expect(one.ticks).toHaveLength(2);
    expect(one.ticks[1]?.moves.map(({ event, times }) => [event, times])).toEqual([
      ['spawned', 1_000],
      ['attempt.completed', 1],
    ]);
    expect(one.ticks[1]?.sample).toHaveLength(12);
    liveFeed.stop();
  });

  test('sends each environment its own moves and none of the other', () => {
    const { liveFeed, commit, turn } = stage();
    const [test1, live] = [viewer(TEST), viewer(LIVE)];
    liveFeed.join(test1);
    liveFeed.join(live);
    commit('em_live', [[null, 'spawned', 'sending']], LIVE);
    turn();
    expect(JSON.stringify(test1.ticks)).not.toContain('em_live');
    expect(JSON.stringify(live.ticks)).toContain('em_live');
    liveFeed.stop();
  });

  test('sends the kinds that a viewer may see, and no others', () => {
    const { liveFeed, commit, turn } = stage();
    const [all, domains] = [viewer(), viewer(TEST, 'em_1', visibilityOf(['domains:read']))];
    liveFeed.join(all);
    liveFeed.join(domains);
    commit('em_1', [[null, 'spawned', 'sending']]);
    turn();
    expect(all.ticks[0]?.sample.map(({ id }) => id)).toEqual(['em_1']);
    expect(domains.ticks[0]).toMatchObject({ moves: [], sample: [], changed: [] });
    liveFeed.stop();
  });

  test('names watched actors that changed, and no others', () => {
    const { liveFeed, commit, turn } = stage();
    const one = viewer(TEST, 'em_1');
    liveFeed.join(one);
    for (const id of ['em_1', 'em_2']) commit(id, [[null, 'spawned', 'sending']]);
    turn();
    expect(one.ticks[0]?.changed).toEqual(['em_1']);
    liveFeed.stop();
  });

  test('sends counts when they change, and a tick every five seconds', () => {
    const { liveFeed, turn, stateCounts } = stage();
    const one = viewer();
    liveFeed.join(one);
    turn();
    stateCounts.counts = { email: { sent: { count: 1, exact: true } } };
    turn();
    expect(one.ticks.map(({ counts }) => counts)).toEqual([{}, stateCounts.counts]);
    for (let index = 0; index < 20; index++) turn();
    expect(one.ticks).toHaveLength(3);
    expect(one.ticks[2]).toMatchObject({ counts: null, moves: [] });
    liveFeed.stop();
  });

  test('tells a viewer that was too slow how much it has missed, and everything else whole', () => {
    const { liveFeed, commit, turn, stateCounts } = stage();
    const [slow, quick] = [viewer(), viewer()];
    liveFeed.join(slow);
    liveFeed.join(quick);
    turn();
    slow.isFull = true;
    stateCounts.counts = { email: { sent: { count: 1, exact: true } } };
    for (let index = 0; index < 20; index++) commit(`em_${index}`, [[null, 'spawned', 'sending']]);
    turn();
    commit('em_1', [['sending', 'attempt.completed', 'sent']]);
    turn();
    slow.isFull = false;
    turn();
    turn();
    expect(quick.ticks.map(({ sample, unshown }) => [sample.length, unshown])).toEqual([
      [0, 0],
      [12, 8],
      [1, 0],
      [0, 0],
    ]);
    expect(slow.ticks).toHaveLength(2);
    expect(slow.ticks[1]).toMatchObject({ unshown: 21, counts: stateCounts.counts, instances: [] });
    liveFeed.stop();
  });
});
