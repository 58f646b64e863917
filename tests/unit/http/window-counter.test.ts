import { expect, test } from 'bun:test';
import { LocalCounter } from '../../../src/platform/time/window-counter.ts';

function counterAt(capacity?: number) {
  const clock = { ms: 1_000 };
  return { clock, counter: new LocalCounter(60_000, () => clock.ms, capacity) };
}

test('the window counter opens a window at the first hit and ends it a minute later', () => {
  const { clock, counter } = counterAt();
  expect(counter.hit('a')).toEqual({ used: 1, msLeft: 60_000 });
  clock.ms += 59_999;
  for (let used = 2; used < 700; used++) expect(counter.hit('a')).toEqual({ used, msLeft: 1 });
  clock.ms += 1;
  expect(counter.hit('a')).toEqual({ used: 1, msLeft: 60_000 });
});

test('the window counter counts names apart', () => {
  const { counter } = counterAt();
  counter.hit('a');
  expect(counter.hit('b').used).toBe(1);
});

test('the window counter evicts the oldest window at capacity', () => {
  const { clock, counter } = counterAt(1_000);
  for (let i = 0; i < 5_000; i++) {
    clock.ms += 1;
    counter.hit(`client ${i}`);
  }
  expect(counter.size).toBe(1_000);
  expect(counter.hit('client 4999').used).toBe(2);
  expect(counter.hit('client 0').used).toBe(1);
});

test('the window counter forgets clients who stay away', () => {
  const { clock, counter } = counterAt();
  for (let i = 0; i < 1_000; i++) counter.hit(`client ${i}`);
  clock.ms += 60_000;
  for (let i = 0; i < 600; i++) counter.hit('newcomer '.concat(String(i)));
  expect(counter.size).toBeLessThan(700);
});

test('the window counter keeps a busy client while others come', () => {
  const { clock, counter } = counterAt(100);
  counter.hit('busy');
  clock.ms += 60_000;
  // Its second window is younger than those of the 99 that follow the first.
  for (let i = 0; i < 99; i++) counter.hit(`early ${i}`);
  counter.hit('busy');
  for (let i = 0; i < 99; i++) counter.hit(`late ${i}`);
  expect(counter.hit('busy').used).toBe(2);
});
