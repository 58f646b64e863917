import { expect, test } from 'bun:test';
import { Progress, spanOf } from '../support/progress.ts';

const FILES = ['a', 'b', 'c', 'd'].map((name) => `tests/unit/${name}.test.ts`);
const TIMINGS = { 'tests/unit/a.test.ts': 1_000, 'tests/unit/c.test.ts': 7_000 };

test('a run of tests tells how many files are through, and what is left by what they took last', () => {
  const progress = new Progress(FILES, TIMINGS, 1);
  expect(progress.tell(2_000)).toBe('0 of 4 files, 2 s');
  // As it comes: in pieces, between the lines of tests.
  progress.read('bun test v1.4.5\n\ntests/unit/a.te');
  progress.read('st.ts:\n(pass) about tests/unit/b.test.ts: [0.2ms]\n');
  expect(progress.tell(3_000)).toBe('0 of 4 files, 3 s');
  // A new file counts two seconds: of twelve one is done.
  progress.read('\ntests/unit/b.test.ts:\r\n(fail) x\n');
  expect(progress.tell(3_000)).toBe('1 of 4 files, 3 s; about 33 s left');
  progress.read('\ntests/unit/c.test.ts:\n\ntests/unit/d.test.ts:\n');
  expect(progress.tell(20_000)).toBe('3 of 4 files, 20 s; about 4 s left');
});

test('files that are heard of again are still at work, as many as there are workers', () => {
  const progress = new Progress(FILES, TIMINGS, 2);
  progress.read('tests/unit/a.test.ts:\ntests/unit/b.test.ts:\ntests/unit/a.test.ts:\n');
  expect(progress.tell(1_000)).toBe('0 of 4 files, 1 s');
  progress.read('tests/unit/c.test.ts:\n');
  expect(progress.tell(2_000)).toBe('1 of 4 files, 2 s; about 10 s left');
  // Those that failed are shown once more at the end.
  progress.read('tests/unit/d.test.ts:\ntests/unit/d.test.ts:\n');
  expect(progress.tell(5_000)).toStartWith('2 of 4 files, 5 s;');
});

test.each([
  [0, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min 0 s'],
  [3_599_000, '59 min 59 s'],
  [7_500_000, '2 h 5 min'],
])('%d ms is %s', (ms, text) => {
  expect(spanOf(ms)).toBe(text);
});
