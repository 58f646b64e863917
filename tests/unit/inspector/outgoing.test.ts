import { describe, expect, test } from 'bun:test';
import type { Draft } from '../../../src/engine/machine/draft.ts';
import type { Kind } from '../../../src/engine/machine/kind.ts';
import {
  FOR_VIEWERS,
  FOREIGN_SAMPLE,
  type News,
  TransitionBuffer,
} from '../../../src/web/live/exchange/gathered.ts';
import { OutgoingNews } from '../../../src/web/live/exchange/outgoing.ts';

const scopeOf = (number: number) => ({ workspaceId: `ws_${number}`, livemode: false });
const email = { name: 'email' } as Kind;

const draft = (id: string, to: string, scope = scopeOf(1)): Draft =>
  ({
    after: { id, ...scope },
    steps: [{ from: 'sending', event: 'attempt.completed', to, at: 1, attempt: null, effects: [] }],
  }) as never;

function stage(scopes = [scopeOf(1)]) {
  let now = 0;
  const outgoing = new OutgoingNews('there', () => now);
  outgoing.follow(scopes);
  const told = () => {
    const next = outgoing.next();
    if (!next) return null;
    const entries = JSON.parse(next.text) as { workspaceId: string; news: News }[];
    return { ...next, entries, news: entries[0]?.news };
  };
  return {
    outgoing,
    told,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('what an instance tells the others', () => {
  test('is the same, under the same number, until it was told', () => {
    const { outgoing, told } = stage();
    expect(told()).toBeNull();
    outgoing.note(email, [draft('em_1', 'sent')]);
    const first = told();
    outgoing.note(email, [draft('em_2', 'sent')]);
    expect(told()).toEqual(first);
    expect(first?.news?.times).toEqual({ email: 1 });
    if (first) outgoing.done(first);
    const second = told();
    expect(second?.number).toBe(1);
    expect(second?.news).toMatchObject({ times: { email: 1 }, before: { email: 1 } });
    expect(second?.news?.sample.map(({ id }) => id)).toEqual(['em_2']);
  });

  test('is taken back ten seconds after it was told', () => {
    const { outgoing, told, pass } = stage();
    const overAfter = (ms: number) => {
      pass(ms);
      outgoing.note(email, [draft('em_1', 'sent')]);
      const next = told();
      const over = outgoing.over();
      if (next) outgoing.done(next);
      return over;
    };
    expect([overAfter(0), overAfter(9_999), overAfter(1), overAfter(9_998), overAfter(1)]).toEqual([
      null,
      null,
      0,
      null,
      1,
    ]);
  });

  test('is of environments that are watched, and begins again with each watch', () => {
    const { outgoing, told } = stage();
    outgoing.note(email, [draft('em_1', 'sent', scopeOf(2)), draft('em_2', 'sent')]);
    expect(told()?.entries.map(({ workspaceId }) => workspaceId)).toEqual(['ws_1']);
    const next = outgoing.next();
    if (next) outgoing.done(next);
    outgoing.follow([]);
    outgoing.note(email, [draft('em_3', 'sent')]);
    outgoing.follow([scopeOf(1)]);
    expect(told()).toBeNull();
    outgoing.note(email, [draft('em_4', 'sent')]);
    expect(told()?.news?.before).toEqual({});
  });

  test('is bounded, and counts whatever it leaves out', () => {
    const { outgoing, told } = stage();
    for (let index = 0; index < 10_001; index++)
      outgoing.note(email, [draft(`em_${index}`, `step ${index % 300}`)]);
    const news = told()?.news;
    expect(news?.times).toEqual({ email: 10_001 });
    expect(news?.moves).toHaveLength(200);
    expect(news?.sample).toHaveLength(FOREIGN_SAMPLE);
    expect(news?.changed).toEqual({ email: null });
  });

  test('names a hundred changed actors of a kind, and of more says that any may have changed', () => {
    for (const [count, named] of [
      [100, 100],
      [101, null],
    ] as const) {
      const { outgoing, told } = stage();
      for (let index = 0; index < count; index++) outgoing.note(email, [draft(`em_${index}`, 'sent')]);
      expect(told()?.news?.changed.email?.length ?? null).toBe(named);
    }
  });

  test('has room for the largest of a few environments, and for the numbers of all', () => {
    const scopes = Array.from({ length: 500 }, (_, index) => scopeOf(index));
    const { outgoing, told } = stage(scopes);
    for (const scope of scopes)
      for (let index = 0; index < 250; index++)
        outgoing.note(email, [draft(`em_${index}`, `step ${index}`, scope)]);
    const next = told();
    expect(next?.entries).toHaveLength(500);
    expect(next?.entries.every(({ news }) => news.times.email === 250)).toBe(true);
    expect(next?.text.length).toBeLessThan(500_000);
    expect(next?.entries.filter(({ news }) => news.moves.length > 0).length).toBeGreaterThan(5);
  });

  test('keeps room for a small environment behind those that are too large, and begins at another one each time', () => {
    const scopes = Array.from({ length: 50 }, (_, index) => scopeOf(index));
    const { outgoing, told } = stage(scopes);
    const large = new Set<string>();
    for (let round = 0; round < scopes.length; round++) {
      for (const scope of scopes.slice(0, -1))
        for (let index = 0; index < 250; index++)
          outgoing.note(email, [draft(`em_${index}`, `step ${index}`, scope)]);
      outgoing.note(email, [draft('em_small', 'sent', scopes.at(-1))]);
      const next = told();
      const whole = next?.entries.filter(({ news }) => news.moves.length > 0) ?? [];
      expect(whole.map(({ workspaceId }) => workspaceId)).toContain('ws_49');
      for (const { workspaceId } of whole) large.add(workspaceId);
      if (next) outgoing.done(next);
    }
    expect(large.size).toBe(scopes.length);
  });
});

describe('what a viewer gets from other instances', () => {
  const news: News = {
    times: { email: 60, domain: 3 },
    before: {},
    moves: [
      { kind: 'email', event: 'spawned', from: null, to: 'sending', times: 60 },
      { kind: 'domain', event: 'checked', from: 'pending', to: 'verified', times: 3 },
    ],
    sample: Array.from({ length: 60 }, (_, index) => ({
      kind: index < 3 ? 'domain' : 'email',
      id: `id_${index}`,
      event: 'spawned',
      from: null,
      to: 'sending',
      at: index,
    })),
    changed: { email: ['em_1'], domain: null },
  };

  test('is of the kinds that it may see, numbers of what it missed as well', () => {
    const gathered = new TransitionBuffer('here', FOR_VIEWERS);
    gathered.hear('there', news, { email: 5, domain: 7 }, (kind) => kind === 'email');
    const taken = gathered.take(['em_1', 'em_2']);
    expect(taken.moves.map(({ kind }) => kind)).toEqual(['email']);
    expect(taken.changed).toEqual(['em_1']);
    expect(taken.sample).toHaveLength(FOREIGN_SAMPLE);
    expect(new Set(taken.sample.map(({ kind, instance }) => `${kind} ${instance}`))).toEqual(
      new Set(['email there']),
    );
    expect(taken.unshown).toBe(65 - FOREIGN_SAMPLE);
    expect(gathered.isEmpty).toBe(true);
  });

  test('says of every actor that is opened that it may have changed, where too many have', () => {
    const gathered = new TransitionBuffer('here', FOR_VIEWERS);
    gathered.hear('there', news, {}, () => true);
    expect(gathered.take(['em_1', 'dom_1', 'dom_1']).changed).toEqual(['em_1', 'dom_1']);
  });
});
