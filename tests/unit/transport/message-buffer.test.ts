import { describe, expect, test } from 'bun:test';
import { FullBuffer, HeadTailBuffer } from '../../../src/mail/inbound/message-buffer.ts';

const octets = (count: number, from = 0): Buffer =>
  Buffer.from(Array.from({ length: count }, (_, n) => (from + n) % 251));

describe('keeping a whole message', () => {
  for (const size of [0, 1, 65_535, 65_536, 65_537, 200_000])
    for (const step of [1, 1_000, 70_000])
      test(`${size} octets by ${step}`, () => {
        const kept = new FullBuffer();
        const all = octets(size);
        for (let at = 0; at < size; at += step) kept.add(all.subarray(at, at + step));
        expect(kept.octets).toBe(size);
        expect(kept.message().equals(all)).toBe(true);
        kept.clear();
        expect([kept.octets, kept.message().length]).toEqual([0, 0]);
      });
});

describe('keeping the ends of a message', () => {
  const LIMITS = { head: 100, tail: 30 };
  for (const size of [0, 99, 100, 101, 129, 130])
    for (const step of [1, 7, 30, 31, 500])
      test(`are all of ${size} octets, by ${step}`, () => {
        const kept = new HeadTailBuffer(LIMITS);
        const all = octets(size);
        for (let at = 0; at < size; at += step) kept.add(all.subarray(at, at + step));
        expect(kept.octets).toBe(size);
        expect(kept.message().equals(all)).toBe(true);
      });
  for (const size of [131, 160, 161, 1_000])
    for (const step of [1, 7, 30, 31, 5_000])
      test(`are the first and the last of ${size}, by ${step}`, () => {
        const kept = new HeadTailBuffer(LIMITS);
        const all = octets(size);
        for (let at = 0; at < size; at += step) kept.add(all.subarray(at, at + step));
        expect(kept.octets).toBe(130);
        const expected = Buffer.concat([all.subarray(0, 100), Buffer.from('\r\n'), all.subarray(-30)]);
        expect(kept.message().equals(expected)).toBe(true);
      });
});
