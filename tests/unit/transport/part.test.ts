import { expect, test } from 'bun:test';
import { connectionsOf, messagesOf, type Part, WHOLE } from '../../../src/mail/transport/part.ts';

const parts = (of: number): readonly Part[] =>
  Array.from({ length: of }, (_, rank) => ({ of, rank, isKnown: true }));
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

test('the parts of all processes are the limit, whatever their number up to it', () => {
  for (let all = 1; all <= 100; all++)
    for (let of = 1; of <= all; of++) {
      const each = parts(of).map((part) => connectionsOf(all, part));
      expect(sum(each)).toBe(all);
      expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
    }
  expect(connectionsOf(10, WHOLE)).toBe(10);
});

test('of more processes than connections each has one', () => {
  expect(parts(5).map((part) => connectionsOf(2, part))).toEqual([1, 1, 1, 1, 1]);
});

test('no process has more than before because another one joins, whatever its place', () => {
  for (let of = 1; of <= 20; of++)
    for (const part of parts(of))
      for (const rank of [part.rank, part.rank + 1])
        expect(connectionsOf(20, { of: of + 1, rank, isKnown: true })).toBeLessThanOrEqual(
          connectionsOf(20, part),
        );
});

test('a process that others may not know of yet has one connection, and the messages that it will have', () => {
  const unknown = { of: 4, rank: 0, isKnown: false };
  expect(connectionsOf(20, unknown)).toBe(1);
  expect(messagesOf(3_000, unknown)).toBe(750);
});
