import { beforeEach, expect, test } from 'bun:test';
import type { Duty } from '../../src/engine/duties/duty.ts';
import { WorkLook } from '../../src/engine/duties/work-look.ts';

const duty = (name: string): Duty => ({
  name,
  pattern: '* * * * * *',
  asks: () => name,
  run: async () => {},
});
const [often, rare] = [duty('often'), duty('rare')];
let passed = 0;
/** The time by which the clock was set, or the machine suspended. */
let leapt = 0;
let asked = '';
let far: unknown = null;
let isAlone = true;
let found: Readonly<Record<string, boolean>> = {};
const database = {
  kind: 'postgres',
  worked: 0,
  query: async (_: string, [, letters, later]: readonly unknown[] = []) => {
    [asked, far] = [String(letters), later];
    return [found];
  },
};
const looker = () =>
  new WorkLook([often, rare], {
    database: database as never,
    clock: { now: () => passed + leapt, monotonic: () => passed },
    isAlone: () => isAlone,
  });

beforeEach(() => {
  [passed, leapt, asked, isAlone, found] = [0, 0, '', true, {}];
});

test('only a look for the work of all duties lets an instance that is alone rest for ten seconds', async () => {
  const look = looker();
  expect(await look.look([often])).toEqual([]);
  expect([asked, look.dueIn]).toEqual(['yn', 2_900]);
  passed += 2_900;
  expect(await look.look([often])).toEqual([]);
  expect([asked, look.dueIn]).toEqual(['yy', 9_900]);
});

test('work of a duty that is not asked for now is looked for again within a second', async () => {
  const look = looker();
  await look.look([often]);
  found = { 1: true };
  expect(await look.look([often])).toEqual([]);
  expect(look.dueIn).toBe(900);
  expect(await look.look([rare])).toEqual([rare]);
});

test('a rest ends with a statement of this process, and with another instance', async () => {
  const look = looker();
  await look.look([often]);
  await look.look([often]);
  expect(look.dueIn).toBe(9_900);
  isAlone = false;
  expect(look.dueIn).toBe(2_900);
  isAlone = true;
  database.worked++;
  expect(look.dueIn).toBe(2_900);
});

test.each([
  ['postgres', 30_000],
  ['embedded', 600_000],
])('where no work waits for its time an instance on %s rests for %d ms', async (kind, ms) => {
  database.kind = kind;
  const look = looker();
  found = { later: false };
  await look.look([often]);
  expect(far).toBeNull();
  await look.look([often]);
  expect([far, look.dueIn]).toEqual([new Date(passed + ms).toISOString(), ms]);
  found = { later: true };
  await look.look([often]);
  expect(look.dueIn).toBe(9_900);
  database.kind = 'postgres';
});

test('work that another instance has left is looked for at once', async () => {
  const look = looker();
  found = { later: false };
  await look.look([often]);
  await look.look([often]);
  look.hurry();
  expect(look.dueIn).toBe(0);
  found = { 0: true };
  expect(await look.look([often])).toEqual([often]);
});

test.each([3_600_000, -3_600_000])('a leap of the clock by %d ms ends a rest', async (ms) => {
  const look = looker();
  found = { later: false };
  await look.look([often]);
  await look.look([often]);
  expect(look.dueIn).toBe(30_000);
  leapt = ms;
  expect(look.dueIn).toBe(2_900);
});

test('what is left amid a look, and for ten seconds after, is looked for every second', async () => {
  const look = looker();
  found = { later: false };
  await look.look([often]);
  const looking = look.look([often]);
  look.hurry();
  await looking;
  expect(look.dueIn).toBe(0);
  passed += 9_000;
  await look.look([often]);
  expect(look.dueIn).toBe(900);
  passed += 1_100;
  await look.look([often]);
  await look.look([often]);
  expect(look.dueIn).toBe(30_000);
});
