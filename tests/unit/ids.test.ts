import { expect, test } from 'bun:test';
import { ID_ALPHABET, isId, mintId, timeOfId } from '../../src/platform/db/ids.ts';

const AT = Date.parse('2026-11-20T12:00:00.500Z');
/** More than the random bytes of one refill of the pool are enough for. */
const MANY = 2_000;
const ids = Array.from({ length: MANY }, () => mintId('em', AT));

test('ids of one moment are different, and share the part of the time', () => {
  expect(new Set(ids).size).toBe(MANY);
  expect(new Set(ids.map((id) => id.slice(0, 13))).size).toBe(1);
  expect(ids.every((id) => isId('em', id) && timeOfId(id) === AT)).toBe(true);
});

test('each of the 14 random characters takes every letter of the alphabet', () => {
  for (let place = 0; place < 14; place++)
    expect(new Set(ids.map((id) => id.slice(13).charAt(place))).size).toBe(ID_ALPHABET.length);
});

test('ids sort by the time of their creation', () => {
  const later = Array.from({ length: 50 }, (_, ms) => mintId('em', AT + ms));
  expect(later.toSorted()).toEqual(later);
});
