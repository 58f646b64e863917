import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import pino from 'pino';
import { Roster } from '../../src/engine/roster.ts';
import { postgresStore, type Store } from '../support/engine.ts';

let store: Store;
beforeAll(async () => {
  store = await postgresStore();
});
afterAll(() => store[Symbol.asyncDispose]());
beforeEach(async () => void (await store.database.query('delete from service_instances')));

function instance(version = '1.0.0'): Roster {
  const roster = new Roster({
    database: store.database,
    logger: pino({ level: 'silent' }),
    roles: ['http'],
    version,
    monotonic: () => performance.now(),
    everyMs: 3_600_000,
    keys: () => ({ holds: [], sealsWith: '' }),
    onOthers: () => {},
  });
  roster.news.hears = true;
  return roster;
}

const giveEpoch = ({ id }: Roster, epoch: number | null) =>
  store.database.query('update service_instances set epoch = $2::integer where id = $1', [id, epoch]);

/** Two instances, of which the second has started after the first one's latest look. */
async function two(version?: string): Promise<[Roster, Roster]> {
  const pair: [Roster, Roster] = [instance(), instance(version)];
  for (const [place, one] of pair.entries()) {
    await one.start();
    await giveEpoch(one, place + 1);
  }
  await pair[1].tell();
  return pair;
}

test('an instance rests only once the others know of it', async () => {
  const [first, second] = await two();
  expect([first.hearsAll, second.hearsAll]).toEqual([true, false]);
  await first.tell();
  await second.tell();
  expect([first.hearsAll, second.hearsAll]).toEqual([true, true]);
  for (const one of [first, second]) await one.stop();
});

test('beside an instance whose end is not noticed it does not rest', async () => {
  const [first, second] = await two();
  await giveEpoch(first, null);
  await first.tell();
  await second.tell();
  expect([first.hearsAll, second.hearsAll]).toEqual([true, false]);
  for (const one of [first, second]) await one.stop();
});

test.each([
  ['an earlier build', '1.0.0'],
  ['another version', '2.0.0/1'],
  ['a version that states nothing', null],
])('beside %s it does not rest', async (_, version) => {
  const [first, second] = await two();
  await first.tell();
  await store.database.query('update service_instances set version = $2 where id = $1', [second.id, version]);
  await first.tell();
  expect(first.hearsAll).toBe(false);
  await store.database.query("update service_instances set version = '1.0.0/1' where id = $1", [second.id]);
  await first.tell();
  expect(first.hearsAll).toBe(true);
  for (const one of [first, second]) await one.stop();
});
