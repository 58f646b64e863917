import { expect, test } from 'bun:test';
import type { Results } from '@electric-sql/pglite';
import { DiskRoom, RESERVE } from '../../src/db/disk-room.ts';
import { type Engine, EngineEnded, GuardedEngine } from '../../src/db/guarded-engine.ts';

const NONE: Results<never> = { rows: [], fields: [] };

/** An engine that writes down what it is asked, on a disk with this much room. */
function made(): {
  readonly guard: GuardedEngine;
  readonly asked: string[];
  room: number;
  fails: Error | null;
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
      return NONE;
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
  const world = { guard: new GuardedEngine(engine, room), asked, room: RESERVE, fails: null as Error | null };
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
    message: '32 MiB are free on the disk of /data, and 32 MiB stay free beside what is written: make room',
  });
  await expect(world.guard.query('c', [], { blob: new Blob(['12345678901']) })).rejects.toMatchObject({
    code: '53100',
  });
  expect([world.asked, world.guard.isFull]).toEqual([['a'], false]);
});

test('a database that was set read-only by somebody else is called that', async () => {
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
