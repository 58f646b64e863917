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
let asked = '';
let isAlone = true;
let found: Readonly<Record<string, boolean>> = {};
const database = {
  kind: 'postgres',
  worked: 0,
  query: async (_: string, [, letters]: readonly unknown[] = []) => {
    asked = String(letters);
    return [found];
  },
};
const looker = () =>
  new WorkLook([often, rare], {
    database: database as never,
    clock: { now: () => passed, monotonic: () => passed },
    isAlone: () => isAlone,
  });

beforeEach(() => {
  [passed, asked, isAlone, found] = [0, '', true, {}];
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
