import { expect, test } from 'bun:test';
import { AnswerMemory } from '../../src/mail/dns/answer-memory.ts';

const question = (name: string) => ({ name, type: 'TXT' }) as const;
const found = (...records: readonly string[]) => ({ status: 'found', records }) as const;

function memory(limits = { most: 3, longest: 40, seconds: 60 }) {
  const clock = { now: 0 };
  return { clock, kept: new AnswerMemory(limits, () => clock.now) };
}

test('records are remembered for their TTL, and for a minute at most', () => {
  const { clock, kept } = memory();
  kept.keep(question('Short.test'), found('a'), 5);
  kept.keep(question('long.test'), found('b'), 86_400);
  clock.now = 4_999;
  expect([kept.get(question('short.TEST')), kept.get(question('long.test'))]).toEqual([
    found('a'),
    found('b'),
  ]);
  clock.now = 5_000;
  expect(kept.get(question('short.test'))).toBeUndefined();
  clock.now = 59_999;
  expect(kept.get(question('long.test'))).toEqual(found('b'));
  clock.now = 60_000;
  expect(kept.get(question('long.test'))).toBeUndefined();
});

test('another type is another question', () => {
  const { kept } = memory();
  kept.keep(question('a.test'), found('a'), 5);
  expect(kept.get({ name: 'a.test', type: 'A' })).toBeUndefined();
});

test('records with a TTL of 0 are not remembered', () => {
  const { kept } = memory();
  kept.keep(question('a.test'), found('a'), 0);
  expect(kept.get(question('a.test'))).toBeUndefined();
});

test('the number of answers and their length are bounded', () => {
  const { kept } = memory();
  // Its JSON has two brackets and two quotes more.
  kept.keep(question('exact.test'), found('x'.repeat(36)), 60);
  kept.keep(question('longer.test'), found('x'.repeat(37)), 60);
  expect([kept.get(question('exact.test')) !== undefined, kept.get(question('longer.test'))]).toEqual([
    true,
    undefined,
  ]);
  for (const name of ['a.test', 'b.test', 'c.test']) kept.keep(question(name), found(name), 60);
  expect(kept.get(question('exact.test'))).toBeUndefined();
  expect(kept.get(question('a.test'))).toEqual(found('a.test'));
});
