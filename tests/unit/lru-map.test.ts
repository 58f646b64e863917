import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { LruMap } from '../../src/platform/async/lru-map.ts';
import { TtlCache } from '../../src/platform/async/ttl-cache.ts';

describe('a bounded map', () => {
  test('holds as many entries as it may, and one more displaces the one that was used longest ago', () => {
    const map = new LruMap<string, number>({ entries: 3 });
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
    expect(map.get('a')).toBe(0);
    expect(map.has('b')).toBe(true);
    map.set('d', 3);
    expect([...map]).toEqual([
      ['c', 2],
      ['a', 0],
      ['d', 3],
    ]);
    expect([...map.values()]).toEqual([2, 0, 3]);
    map.clear();
    expect(map.size).toBe(0);
  });

  test('holds nothing when it may have no entry', () => {
    const map = new LruMap<string, null>({ entries: 0 });
    map.set('a', null);
    expect([map.size, map.get('a')]).toEqual([0, undefined]);
  });

  test('holds values up to their weight, and one that is too heavy displaces none', () => {
    const map = new LruMap<string, string>({ entries: 9, weight: 10, weightOf: ({ length }) => length });
    for (const value of ['aaaa', 'bbb', 'ccc']) map.set(value, value);
    expect([...map.values()]).toEqual(['aaaa', 'bbb', 'ccc']);
    map.set('d', 'd');
    expect([...map.values()]).toEqual(['bbb', 'ccc', 'd']);
    map.set('bbb', 'b');
    map.set('e', 'eeeee');
    expect([...map.values()]).toEqual(['ccc', 'd', 'b', 'eeeee']);
    map.set('f', 'f'.repeat(11));
    expect(map.size).toBe(4);
    map.set('g', 'g'.repeat(10));
    expect([...map]).toEqual([['g', 'g'.repeat(10)]]);
  });

  test('does what a list in the order of use does, whatever happens to it', () => {
    const step = fc.record({
      verb: fc.constantFrom('get', 'set', 'delete'),
      key: fc.integer({ min: 0, max: 6 }),
      value: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const map = new LruMap<number, number>({ entries: 4, weight: 20, weightOf: (value) => value });
        let list: [number, number][] = [];
        for (const { verb, key, value } of steps) {
          const held = list.find(([other]) => other === key);
          if (verb === 'get') expect(map.get(key)).toBe(held?.[1]);
          if (verb === 'set') map.set(key, value);
          if (verb === 'delete') map.delete(key);
          list = list.filter(([other]) => other !== key);
          if (verb === 'set') list.push([key, value]);
          if (verb === 'get' && held) list.push(held);
          while (list.length > 4 || list.reduce((sum, [, weight]) => sum + weight, 0) > 20) list.shift();
          expect([...map]).toEqual(list);
        }
      }),
      { numRuns: 300, seed: 9 },
    );
  });
});

describe('a cache for a short time', () => {
  function aCache(options: { readonly atMost?: number; readonly sharedMs?: number } = {}) {
    const state = { now: 0, searches: 0 };
    const cache = new TtlCache<string>({
      forMs: (value) => (value === 'missing' ? 0 : 100),
      sharedMs: 100,
      atMost: 2,
      ...options,
      monotonic: () => state.now,
    });
    const find = (value: string | Promise<string>) => async () => {
      state.searches++;
      return value;
    };
    return { state, cache, find };
  }

  test('keeps a value as long as it may, counted from the beginning of its search', async () => {
    const { state, cache, find } = aCache();
    const late = Promise.withResolvers<string>();
    const first = cache.get('a', find(late.promise));
    state.now = 40;
    late.resolve('one');
    expect(await first).toBe('one');
    state.now = 99;
    expect(await cache.get('a', find('two'))).toBe('one');
    state.now = 100;
    expect(await cache.get('a', find('two'))).toBe('two');
  });

  test('shares a search, for no longer than it may', async () => {
    const { state, cache, find } = aCache({ sharedMs: 20 });
    const late = Promise.withResolvers<string>();
    const first = cache.get('a', find(late.promise));
    state.now = 19;
    const joined = cache.get('a', find('other'));
    state.now = 20;
    expect(await cache.get('a', find('new'))).toBe('new');
    late.resolve('old');
    expect(await Promise.all([first, joined])).toEqual(['old', 'old']);
    expect(await cache.get('a', find('newer'))).toBe('new');
    expect(state.searches).toBe(2);
  });

  test('keeps neither a failed search nor a value that is not worth it', async () => {
    const { cache, find } = aCache();
    await expect(cache.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await cache.get('a', find('missing'))).toBe('missing');
    expect(await cache.get('a', find('there'))).toBe('there');
  });

  test.each(['delete', 'clear'] as const)(
    'after %s, a search that began before is not kept',
    async (verb) => {
      const { cache, find } = aCache();
      const late = Promise.withResolvers<string>();
      const first = cache.get('a', find(late.promise));
      cache[verb]('a');
      late.resolve('old');
      expect(await first).toBe('old');
      expect(await cache.get('a', find('new'))).toBe('new');
    },
  );

  test('is bounded, and a value that is used stays', async () => {
    const { state, cache, find } = aCache();
    for (const key of ['a', 'b', 'a', 'c']) await cache.get(key, find(key));
    expect(state.searches).toBe(3);
    await cache.get('a', find('a'));
    expect(state.searches).toBe(3);
    await cache.get('b', find('b'));
    expect(state.searches).toBe(4);
  });
});

test('no cache forgets everything when it is full', () => {
  const forgetful = [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync()].filter((path) =>
    /\.size\s*>=?\s*[\w.#]+\)\s*\{?\s*[\w.#]+\.clear\(\)/.test(readFileSync(path, 'utf8')),
  );
  expect(forgetful).toEqual([]);
});
