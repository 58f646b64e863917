import { beforeEach, expect, test } from 'bun:test';
import { PreviewPace } from '../../src/web/dashboard/web/application/api/preview-pace.ts';

let now = 0;
let pace: PreviewPace;
beforeEach(() => {
  now = 1_000_000;
  pace = new PreviewPace(() => now);
});

/** A change so many milliseconds after the one before: the pause that follows it. */
const changedAfter = (ms: number): number => {
  now += ms;
  return pace.changed();
};
const heard = (limit: number, remaining: number, seconds: number): void =>
  pace.heard(
    new Headers({
      'x-ratelimit-limit': `${limit}`,
      'x-ratelimit-remaining': `${remaining}`,
      'x-ratelimit-reset': `${seconds}`,
    }),
  );

test('the preview of a change that comes alone is asked for after 60 ms', () => {
  expect([changedAfter(0), changedAfter(200), changedAfter(60_000)]).toEqual([60, 60, 60]);
});

test('a person who types without a pause has no request for each letter', () => {
  changedAfter(5_000);
  expect([changedAfter(120), changedAfter(120), changedAfter(120)]).toEqual([150, 150, 150]);
});

test('a person who types slowly has the preview of each letter after 60 ms', () => {
  changedAfter(5_000);
  expect([changedAfter(300), changedAfter(300)]).toEqual([60, 60]);
});

test('the pause after a quick typist is shorter', () => {
  changedAfter(5_000);
  expect([changedAfter(80), changedAfter(80)]).toEqual([120, 120]);
});

test('previews are spread over the rest of the minute once half of them are used', () => {
  pace.sending();
  heard(60, 31, 45);
  expect(changedAfter(1_000)).toBe(60);
  pace.sending();
  heard(60, 30, 46);
  // 45 seconds are left for 30 previews, and one has passed since the last.
  expect(changedAfter(1_000)).toBe(500);
  expect(changedAfter(5_000)).toBe(60);
});

test('a preview that was asked for counts before its answer', () => {
  heard(60, 31, 30);
  pace.sending();
  expect(changedAfter(0)).toBe(1_000);
});

test('a refused preview is asked for again in the next minute, which has room', () => {
  pace.sending();
  heard(60, 0, 20);
  expect(changedAfter(500)).toBe(19_500);
  expect(changedAfter(19_500)).toBe(60);
});

test('an installation without a limit of previews has no other pause', () => {
  for (let preview = 0; preview < 200; preview++) {
    pace.sending();
    pace.heard(new Headers());
    expect(changedAfter(500)).toBe(60);
  }
});

test('a minute of typing meets no refusal', () => {
  // As the service counts: 60 in a window that begins with the first.
  let [used, endsAt, refused] = [0, 0, 0];
  let dueAt = Number.POSITIVE_INFINITY;
  const end = now + 180_000;
  // A letter each 300 ms: each could be a request, 200 a minute.
  for (let next = now; next < end; next += 300) {
    if (dueAt <= next) {
      now = dueAt;
      if (now >= endsAt) [used, endsAt] = [0, now + 60_000];
      pace.sending();
      if (++used > 60) refused++;
      heard(60, Math.max(0, 60 - used), Math.max(1, Math.ceil((endsAt - now) / 1_000)));
    }
    now = next;
    dueAt = now + pace.changed();
  }
  expect(refused).toBe(0);
});
