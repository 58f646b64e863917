import { afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { startRealService } from '../contract/real-service.ts';
import { command } from '../support/command.ts';
import { layEmbedded } from '../support/embedded.ts';
import { fill, rowsOf } from '../support/filled-service.ts';
import { bringPreparedDirectory } from '../support/prepared-directory.ts';

let home: string;
beforeAll(bringPreparedDirectory);
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-backups-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const folder = (name: string): string => join(home, name);

test('moved into a folder that is named: every row is equal, and the key goes along', async () => {
  const first = folder('first');
  await layEmbedded(first);
  {
    await using service = await startRealService({ DATABASE_URL: '', DATA_DIR: first, SECRET_KEY: '' });
    await fill(service, await service.keyWith('test', ['*']));
  }
  const there = await rowsOf({ url: null, dataDir: first });
  const second = folder('second');
  const move = (to: string) => command({ DATA_DIR: first }, 'move', '--to', to);
  // The service may be started from another folder.
  const moved = await move(`embedded:${relative(process.cwd(), second)}`);
  expect(moved).toMatchObject({
    code: 0,
    out: expect.stringContaining(`Set DATA_DIR to ${second} and start the service.`),
  });
  expect(await rowsOf({ url: null, dataDir: second })).toEqual(there);
  const keyIn = (where: string) => readFileSync(join(where, 'secret-key'), 'utf8');
  expect(keyIn(second)).toBe(keyIn(first));
  expect(await move(`embedded:${second}`)).toMatchObject({
    code: 2,
    error: expect.stringContaining(`There is a database in ${second} already`),
  });
  const link = folder('link');
  symlinkSync(first, link);
  for (const same of [`${first}/.`, link])
    expect(await move(`embedded:${same}`)).toMatchObject({
      code: 1,
      error: expect.stringContaining('That database is already in use.'),
    });
  expect((await move('embedded:')).code).toBe(2);
  for (const [wrong, why] of [
    ['postgres://u:se#cret@127.0.0.1:1/x', 'with % codes'],
    ['postgres://u:secret@127.0.0.1:1/x?sslmode=verifyfull', 'sslmode must be one of'],
  ] as const) {
    const { code, out, error } = await move(wrong);
    expect([code, `${out}${error}`]).toEqual([1, expect.stringContaining(why)]);
    expect(`${out}${error}`).not.toContain('cret');
  }
});
