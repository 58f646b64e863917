import { expect, test } from 'bun:test';
import { namesAll } from '../../../src/web/dashboard/web/application/api/changed-ids.ts';

test.each([
  ['its own id', ['wh_1'], true],
  ['another of its kind alone', ['wh_2'], false],
  ['a thing of another kind, which may belong to it', ['whd_5'], true],
  ['a thing of another kind beside another of its kind', ['whd_5', 'wh_2'], true],
])('a page of one thing is read again after a change of %s', (_, ids, isRead) => {
  expect(namesAll(['wh_1'], ids)).toBe(isRead);
});
