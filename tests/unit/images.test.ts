import { expect, test } from 'bun:test';
import { Images } from '../../src/automation/assets/images.ts';
import type { Database } from '../../src/platform/db/database.ts';

const FILE = `${'0'.repeat(64)}.png`;

test('a kept image that another instance has deleted is shown for a minute, and no longer', async () => {
  let monotonic = 0;
  const asked: string[] = [];
  let isThere = true;
  /** The first question is for the content, the later ones are whether it is still there. */
  const database = {
    query: async () => [],
    read: async () => {
      asked.push('read');
      return isThere ? [{ id: 'ast_1', content: Buffer.from('pixels').toString('base64') }] : [];
    },
  } as unknown as Database;
  const images = new Images(database, { now: () => 0, monotonic: () => monotonic }, () => {});
  expect(Buffer.from((await images.find(FILE))?.content ?? []).toString()).toBe('pixels');
  monotonic = 59_999;
  isThere = false;
  expect(await images.find(FILE)).not.toBeNull();
  expect(asked).toHaveLength(1);
  monotonic = 60_000;
  expect(await images.find(FILE)).toBeNull();
  isThere = true;
  expect(await images.find(FILE)).not.toBeNull();
  monotonic = 200_000;
  const before = asked.length;
  expect(await images.find(FILE)).not.toBeNull();
  await images.find(FILE);
  expect(asked.length).toBe(before + 1);
});

test('four images are read at once, and two hundred wait for their turn', async () => {
  const answers: (() => void)[] = [];
  const database = {
    query: async () => [],
    read: () => new Promise((resolve) => answers.push(() => resolve([]))),
  } as unknown as Database;
  const images = new Images(database, { now: () => 0, monotonic: () => 0 }, () => {});
  const fileOf = (n: number) => `${n.toString(16).padStart(64, '0')}.png`;
  const asked = Array.from({ length: 204 }, (_, n) => images.find(fileOf(n)));
  await Promise.resolve();
  expect(answers).toHaveLength(4);
  expect(images.find(fileOf(204))).rejects.toThrow('Too many images are read at once.');
  let isOver = false;
  const all = Promise.all(asked).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const answer of answers.splice(0)) answer();
    await Promise.resolve();
  }
  expect(await all).toEqual(asked.map(() => null));
});
