import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import type { Database } from '../../src/db/database.ts';
import { TOOK_TOO_LONG } from '../../src/db/sqlstate.ts';
import { Unavailable } from '../../src/db/unavailable.ts';
import { WakeUps } from '../../src/engine/clock.ts';
import { emailKind } from '../../src/modules/emails/kind.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

/** A clock whose looks take as long as they are told to; what each sweep looked behind. */
function scene() {
  let passed = 0;
  let lookMs = 1;
  let due = 0;
  let shift = 0;
  let wholeFails: string | null = null;
  const behind: string[] = [];
  const database = {
    query: async (text: string, parameters: readonly unknown[]) => {
      if (text.startsWith('with due')) {
        behind.push(String(parameters[3]));
        if (wholeFails !== null && Date.parse(String(parameters[3])) === 0) {
          passed += lookMs;
          throw new Unavailable('No resources.', 'no', 1, { cause: { code: wholeFails } });
        }
        const rows = Array.from({ length: Math.min(due, Number(parameters[1])) }, (_, n) => ({ id: n }));
        due -= rows.length;
        return rows;
      }
      passed += lookMs;
      return [{ at: null }];
    },
  } as unknown as Database;
  let room = 500;
  const clock = { now: () => NOW + passed + shift, monotonic: () => passed };
  const wakeUps = new WakeUps(
    database,
    clock,
    [{ kind: emailKind, room: () => room, wake: async () => {} }],
    pino({ enabled: false }),
  );
  return {
    /** One sweep, so long after the one before; answers what it looked behind, as milliseconds before now. */
    async sweep(
      afterMs: number,
      { looksMs = 1, isDue = 0, hasRoom = 500, jumpsMs = 0, fails = null as string | null } = {},
    ) {
      passed += afterMs;
      lookMs = looksMs;
      due = isDue;
      wholeFails = fails;
      room = hasRoom;
      shift += jumpsMs;
      behind.length = 0;
      const now = clock.now();
      wakeUps.sweep();
      await wakeUps.settled();
      return behind.map((from) => (Date.parse(from) === 0 ? 'everything' : now - Date.parse(from)));
    },
  };
}

describe('the sweeps of the clock', () => {
  test('look at everything as long as that is quick', async () => {
    const { sweep } = scene();
    for (let tick = 0; tick < 5; tick++) expect(await sweep(1_000, { looksMs: 24 })).toEqual(['everything']);
  });

  test('look behind the last one, with an overlap, where everything takes long', async () => {
    const { sweep } = scene();
    expect(await sweep(1_000, { looksMs: 100 })).toEqual(['everything']);
    // 100 ms for the look and as much for the claim are a twentieth of 4 s.
    expect(await sweep(1_000)).toEqual([6_100]);
    expect(await sweep(1_000)).toEqual([6_001]);
    expect(await sweep(1_900)).toEqual(['everything']);
    expect(await sweep(1_000)).toEqual(['everything']);
  });

  test('do not get ahead of what there was no room for', async () => {
    const { sweep } = scene();
    expect(await sweep(1_000, { looksMs: 1_000, isDue: 20, hasRoom: 10 })).toEqual([
      'everything',
      'everything',
      'everything',
    ]);
    expect(await sweep(1_000, { hasRoom: 0 })).toEqual([]);
    expect(await sweep(1_000)).toEqual([8_001]);
  });

  test('leave nothing behind when the clock is put back', async () => {
    const { sweep } = scene();
    await sweep(1_000, { looksMs: 1_000 });
    expect(await sweep(1_000, { jumpsMs: -3_600_000 })).toEqual([5_000]);
  });

  const TIMED_OUT = { looksMs: 6_000, fails: TOOK_TOO_LONG };

  test('go on short when a look at everything takes longer than a statement may', async () => {
    const { sweep } = scene();
    expect(await sweep(1_000, { looksMs: 1_000 })).toEqual(['everything']);
    expect(await sweep(40_000, TIMED_OUT)).toEqual(['everything']);
    // Behind the last sweep that left nothing: it was 1 s after the beginning, and a minute has passed.
    expect(await sweep(1_000)).toEqual([53_000]);
    expect(await sweep(1_000)).toEqual([6_001]);
    expect(await sweep(120_000)).toEqual(['everything']);
  });

  test('begin an hour back when not even the first look succeeds', async () => {
    const { sweep } = scene();
    expect(await sweep(1_000, TIMED_OUT)).toEqual(['everything']);
    expect(await sweep(1_000)).toEqual([3_606_000]);
  });

  test('look at everything again after any other failure', async () => {
    const { sweep } = scene();
    expect(await sweep(1_000, { fails: '53300' })).toEqual(['everything']);
    expect(await sweep(1_000)).toEqual(['everything']);
  });
});
