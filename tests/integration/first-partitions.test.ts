import { expect, test } from 'bun:test';
import { partitionMaker } from '../../src/engine/duties/partition-maker.ts';
import {
  ensureFirstPartitions,
  ensurePartitions,
  PARTITIONED,
  partitionName,
} from '../../src/platform/db/partitions.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { DAY_MS } from '../../src/platform/time/clock.ts';
import { embeddedDatabase } from '../support/embedded.ts';
import { ManualClock } from '../support/engine.ts';
import { createTestDatabase } from '../support/postgres.ts';

// A first start on an embedded database makes the partitions of its first hour; the duty makes the rest right
// behind it.

const NOON = Date.UTC(2026, 10, 24, 12);
const LATE = Date.UTC(2026, 10, 30, 23);
const namesOf = (...days: readonly number[]): readonly string[] =>
  PARTITIONED.flatMap(({ table }) => days.map((day) => partitionName(table, day)));

test('a start on an embedded database makes the partitions of the coming hour, and its duty the others at once', async () => {
  const database = await embeddedDatabase();
  expect(await ensureFirstPartitions(database, NOON)).toEqual(namesOf(NOON));
  const duty = partitionMaker({ database, clock: new ManualClock(NOON) });
  expect(duty.isWanted?.()).toBe(true);
  expect(await duty.run()).toEqual(namesOf(NOON + DAY_MS, NOON + 2 * DAY_MS));
  expect(duty.isWanted?.()).toBe(false);
  // A millisecond before the last hour the day is enough; with it the next day comes along.
  expect(await ensureFirstPartitions(database, LATE - 1)).toEqual(namesOf(LATE));
  expect(await ensureFirstPartitions(database, LATE)).toEqual(namesOf(LATE + DAY_MS));
  await database.close();
});

test('on a server a start makes the partitions of all the days ahead', async () => {
  await using made = await createTestDatabase();
  const database = new PostgresDatabase(made.url);
  const all = namesOf(NOON, NOON + DAY_MS, NOON + 2 * DAY_MS);
  expect(await ensureFirstPartitions(database, NOON)).toEqual(all);
  expect(await ensurePartitions(database, NOON)).toEqual([]);
  expect(partitionMaker({ database, clock: new ManualClock(NOON) }).isWanted?.()).toBe(false);
  await database.close();
});
