import { expect, jest, test } from 'bun:test';
import pino from 'pino';
import { LocalLeases } from '../../src/engine/store/local-leases.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';

const NOW = Date.parse('2026-11-27T12:00:00.000Z');

/** An instance over a database that only counts the looks for dead instances. */
function scene(hasOthers: boolean, kind = 'postgres') {
  let passed = 0;
  const counted = { looks: 0, isAway: false, terms: [] as object[] };
  const kept = new LocalLeases(emailKind, {
    database: {
      kind,
      query: async (text: string) => {
        if (!text.includes('as gone from instances')) return [{ id: 1 }];
        counted.looks++;
        if (counted.isAway) throw new Error('The database is away.');
        return counted.terms;
      },
    } as never,
    clock: { now: () => NOW + passed, monotonic: () => passed },
    logger: pino({ enabled: false }),
    hasOthers: () => hasOthers,
    leave: async () => {},
  });
  return {
    kept,
    counted,
    /** The looks of so many beats. */
    async beats(count: number): Promise<number> {
      counted.looks = 0;
      for (let beat = 0; beat < count; beat++) {
        passed += 1_000;
        jest.advanceTimersByTime(1_000);
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      }
      return counted.looks;
    },
  };
}

test('an instance that is alone looks for dead ones after its start, after it has ended a term, and now and then', async () => {
  jest.useFakeTimers();
  try {
    const { kept, counted, beats } = scene(false);
    kept.start();
    expect(await beats(15)).toBe(15);
    expect(await beats(45)).toBe(1);
    expect(await beats(120)).toBe(4);
    kept.begun('em_z');
    expect(await beats(1)).toBe(1);
    // Its term has begun, and holds an actor from here on.
    expect(kept.begun('em_z')).not.toBeNull();
    expect(await beats(20)).toBe(0);
    // A commit without a reply: the actors of the term are unknown.
    kept.doubt();
    expect(await beats(15)).toBe(15);
    expect(await beats(45)).toBe(1);
    counted.isAway = true;
    expect(await beats(30), 'a look that failed is repeated').toBe(30);
    await kept.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('an instance with others looks for dead ones at every beat', async () => {
  jest.useFakeTimers();
  try {
    const { kept, beats } = scene(true);
    kept.start();
    expect(await beats(100)).toBe(100);
    await kept.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('an instance that hears the others looks at every beat while one of them holds new actors', async () => {
  jest.useFakeTimers();
  try {
    const { kept, counted, beats } = scene(false);
    kept.start();
    await beats(30);
    counted.terms = [{ id: 7, low_water: 'em_a', open: true, gone: false }];
    await beats(30);
    expect(await beats(100)).toBe(100);
    counted.terms = [];
    await beats(1);
    expect(await beats(90)).toBeLessThan(4);
    await kept.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('on the embedded database nothing looks any more after the first beats, until a term has ended in doubt', async () => {
  jest.useFakeTimers();
  try {
    const { kept, beats } = scene(false, 'embedded');
    kept.start();
    expect(await beats(15)).toBe(15);
    expect(jest.getTimerCount()).toBe(0);
    expect(await beats(600)).toBe(0);
    kept.begun('em_z');
    await beats(1);
    expect(kept.begun('em_z')).not.toBeNull();
    kept.doubt();
    expect(await beats(15)).toBe(15);
    expect(await beats(600)).toBe(0);
    await kept.stop();
  } finally {
    jest.useRealTimers();
  }
});
