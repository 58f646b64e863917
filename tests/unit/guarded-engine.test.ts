import { expect, test } from 'bun:test';
import type { Results } from '@electric-sql/pglite';
import { DiskRoom, RESERVE } from '../../src/platform/db/embedded/disk-room.ts';
import { type Engine, EngineEnded, GuardedEngine } from '../../src/platform/db/embedded/guarded-engine.ts';

const NONE: Results<never> = { rows: [], fields: [] };

/** An engine that writes down what it is asked, on a disk with this much room. */
function made(): {
  readonly guard: GuardedEngine;
  readonly asked: string[];
  room: number;
  fails: Error | null;
  log: number;
} {
  let now = 0;
  const asked: string[] = [];
  const answer = (text: string): void => {
    asked.push(text);
    if (world.fails && !text.startsWith('set ')) throw world.fails;
  };
  const engine: Engine = {
    async query(text) {
      answer(text);
      return { ...NONE, rows: text.includes('redo_lsn') ? [{ octets: world.log } as never] : [] };
    },
    async exec(text) {
      answer(text);
      return [NONE];
    },
    async close() {
      asked.push('close');
    },
  };
  // Each look comes so much later that it asks again.
  const room = new DiskRoom('/data', { free: () => world.room, monotonic: () => (now += 1_000) });
  const world = {
    guard: new GuardedEngine(engine, room),
    asked,
    room: RESERVE,
    fails: null as Error | null,
    log: 0,
  };
  return world;
}

const error = (members: object): Error => Object.assign(new Error('It said no'), members);

test('below the reserve every transaction is read-only, and above it none is', async () => {
  const world = made();
  await world.guard.query('a');
  expect([world.asked, world.guard.isFull]).toEqual([['a'], false]);
  world.room = RESERVE - 1;
  await world.guard.query('b');
  await world.guard.exec('c');
  expect(world.asked.slice(1)).toEqual(['set default_transaction_read_only = on', 'b', 'c']);
  expect(world.guard.isFull).toBeTrue();
  world.fails = error({ code: '25006' });
  await expect(world.guard.query('d')).rejects.toMatchObject({ code: '53100' });
  world.fails = null;
  world.room = RESERVE;
  await world.guard.query('e');
  expect(world.asked.slice(-2)).toEqual(['set default_transaction_read_only = off', 'e']);
  expect(world.guard.isFull).toBeFalse();
});

test('what is longer than the room beside the reserve is refused, and shorter writes are not', async () => {
  const world = made();
  world.room = RESERVE + 20;
  await world.guard.query('a', ['12345', ['1234', '5']]);
  await expect(world.guard.query('b', ['12345', ['1234', '56']])).rejects.toMatchObject({
    code: '53100',
    message: '32 MiB are free on the disk of /data, and 32 MiB must stay free after each write: make room',
  });
  await expect(world.guard.query('c', [], { blob: new Blob(['12345678901']) })).rejects.toMatchObject({
    code: '53100',
  });
  expect([world.asked, world.guard.isFull]).toEqual([['a'], false]);
});

test('a log of 256 MiB is shortened, and none that is shorter or being copied', async () => {
  const world = made();
  world.room = Number.POSITIVE_INFINITY;
  const written = 'x'.repeat(16 * 1_048_576);
  const isShortened = async (log: number): Promise<boolean> => {
    world.log = log;
    world.asked.length = 0;
    await world.guard.query('a', [written]);
    // The look is behind the statement, and a checkpoint behind the look.
    for (let i = 0; i < 3; i++) await world.guard.query('b');
    expect(world.asked.filter((text) => text.includes('redo_lsn'))).toHaveLength(1);
    return world.asked.includes('checkpoint');
  };
  expect(await isShortened(256 * 1_048_576 - 1)).toBeFalse();
  expect(await isShortened(256 * 1_048_576)).toBeTrue();
  const release = world.guard.holdLog();
  expect(await isShortened(256 * 1_048_576)).toBeFalse();
  release();
  expect(await isShortened(256 * 1_048_576)).toBeTrue();
});

test('a database that another client set read-only is reported as such', async () => {
  const world = made();
  world.fails = error({ code: '25006' });
  await expect(world.guard.query('a')).rejects.toMatchObject({ code: '25006' });
});

test.each([
  ['PANIC', error({ severity: 'PANIC', code: '53100' })],
  ['abort', new WebAssembly.RuntimeError('unreachable')],
])('an engine that has ended (%s) is never asked again, nor closed', async (_, end) => {
  const world = made();
  world.fails = end;
  await expect(world.guard.query('a')).rejects.toThrow(EngineEnded);
  expect(await world.guard.ended).toMatchObject({ code: '57P02', cause: end });
  await expect(world.guard.query('b')).rejects.toThrow(EngineEnded);
  await expect(world.guard.exec('c')).rejects.toThrow(EngineEnded);
  await world.guard.close();
  expect(world.asked).toEqual(['a']);
});
