import { expect, test } from 'bun:test';
import { Images } from '../../src/automation/assets/images.ts';
import { BodyLost, type BodyStore } from '../../src/platform/bodies/body-store.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';

const FILE = `${'0'.repeat(64)}.png`;
const SILENT = { onError() {}, onLost() {} };
const inside = (database: Database) => ({ database, bodies: null });

/**
 * A database that answers `octets` where it is asked for those of an image, and `there` where it is asked
 * whether one is stored.
 */
const databaseOf = (octets: () => Promise<object[]>, there = octets): Database =>
  ({
    query: async (statement: string) => (statement.startsWith('update') ? [] : octets()),
    read: there,
  }) as unknown as Database;

test('a kept image that another instance has deleted is shown for a minute, and no longer', async () => {
  let monotonic = 0;
  const asked: string[] = [];
  let isThere = true;
  /** The first question is for the content, the later ones are whether it is still there. */
  const database = databaseOf(async () => {
    asked.push('read');
    return isThere ? [{ id: 'ast_1', bodyKey: null, content: Buffer.from('pixels').toString('base64') }] : [];
  });
  const images = new Images(inside(database), { now: () => 0, monotonic: () => monotonic }, SILENT);
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
  const database = databaseOf(() => new Promise((resolve) => answers.push(() => resolve([]))));
  const images = new Images(inside(database), { now: () => 0, monotonic: () => 0 }, SILENT);
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

test('an image that many ask for at the same time is read once, and again after a failure', async () => {
  let answer = Promise.withResolvers<object[]>();
  let reads = 0;
  const database = databaseOf(() => {
    reads++;
    return answer.promise;
  });
  const images = new Images(inside(database), { now: () => 0, monotonic: () => 0 }, SILENT);
  const failing = Array.from({ length: 300 }, () => images.find(FILE));
  answer.reject(new Error('gone'));
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(
    failing.map(() => 'rejected'),
  );
  expect(reads).toBe(1);
  answer = Promise.withResolvers();
  const asked = Array.from({ length: 300 }, () => images.find(FILE));
  answer.resolve([{ bodyKey: null, content: Buffer.from('pixels').toString('base64') }]);
  expect((await Promise.all(asked)).every((image) => image !== null)).toBe(true);
  expect(reads).toBe(2);
});

const storeThat = (read: (key: string) => Promise<Uint8Array>): BodyStore =>
  ({ read }) as unknown as BodyStore;

test('the store is asked for a lost image once a minute, and at once after another upload', async () => {
  let monotonic = 0;
  const asked: string[] = [];
  let key = 'lost';
  const bodies = storeThat(async (each) => {
    asked.push(each);
    if (each === 'lost') throw new BodyLost(each, 'missing');
    return new TextEncoder().encode('pixels');
  });
  const database = {
    query: async (statement: string, [, lost]: [string, string[]]) =>
      statement.startsWith('update') || lost.includes(key) ? [] : [{ bodyKey: key, content: null }],
  } as unknown as Database;
  const images = new Images({ database, bodies }, { now: () => 0, monotonic: () => monotonic }, SILENT);
  const expectLost = () =>
    expect(images.find(FILE)).rejects.toThrow('The octets of this image are lost. Upload it again.');
  await expectLost();
  monotonic = 59_999;
  await expectLost();
  expect(asked).toHaveLength(1);
  monotonic = 60_000;
  await expectLost();
  expect(asked).toHaveLength(2);
  images.forget(FILE);
  await expectLost();
  expect(asked).toHaveLength(3);
  key = 'another';
  expect(await images.find(FILE)).not.toBeNull();
  expect(asked).toEqual(['lost', 'lost', 'lost', 'another']);
});

test('four bodies of images that are uploaded again are looked for at once, and two hundred wait', async () => {
  const answers: (() => void)[] = [];
  const bodies = storeThat(
    (key) => new Promise((_, reject) => answers.push(() => reject(new BodyLost(key, 'missing')))),
  );
  const database = {} as Database;
  const images = new Images({ database, bodies }, { now: () => 0, monotonic: () => 0 }, SILENT);
  const asked = Array.from({ length: 204 }, (_, n) => images.isLost(`key${n}`));
  await Promise.resolve();
  expect(answers).toHaveLength(4);
  // It is not known, and nothing may be written for it.
  expect(await images.isLost('one too many')).toBe(false);
  let isOver = false;
  const all = Promise.all(asked).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const answer of answers.splice(0)) answer();
    await Promise.resolve();
  }
  expect(await all).toEqual(asked.map(() => true));
});

test('a body that cannot be read now is not lost; without a store every one is', async () => {
  const away = storeThat(async () => {
    throw new UnavailableError('The body store is unavailable.');
  });
  const of = (bodies: BodyStore | null) =>
    new Images({ database: {} as Database, bodies }, { now: () => 0, monotonic: () => 0 }, SILENT);
  expect(await of(away).isLost('key')).toBe(false);
  expect(await of(null).isLost('key')).toBe(true);
});
