import { afterAll, beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageOf } from '../../scripts/licenses/bundled-packages.ts';
import { licenseOf } from '../../scripts/licenses/license-of.ts';
import { noticeOf } from '../../scripts/licenses/notice.ts';
import { command } from '../support/command.ts';

const NOTICE = readFileSync('THIRD-PARTY-LICENSES.txt', 'utf8');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-licenses-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A package with these files. */
function given(name: string, license: unknown, files: Record<string, string> = {}): string {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '1.2.3', license }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
  return place;
}

test('a package brings the texts of its licence and of its notice, and nothing else that is called so', () => {
  const files = { LICENSE: '\nMIT\r\n', 'NOTICE.md': 'By A', 'license.js': 'code', 'licensed-by.txt': 'B' };
  expect(licenseOf(given('kept', 'MIT', files))).toEqual({
    name: 'kept',
    version: '1.2.3',
    license: 'MIT',
    text: 'MIT\n\nBy A',
  });
});

test.each([
  ['no text', 'MIT', {}, 'bare 1.2.3 carries no text of its licence (MIT): name its author in WITHOUT_TEXT.'],
  ['an empty text', 'ISC', { LICENSE: ' \n' }, 'carries no text of its licence (ISC)'],
  ['a licence that asks for more', 'GPL-3.0', { LICENSE: 'GPL' }, 'has the licence "GPL-3.0", which is not'],
  ['a choice that was not made', '(MIT OR GPL-2.0)', { LICENSE: 'MIT' }, 'which is not in ALLOWED'],
  ['no licence', undefined, { LICENSE: 'Mine' }, 'has the licence none, which is not in ALLOWED'],
])('a package with %s is refused', (_, license, files, sentence) => {
  rmSync(join(folder, 'bare'), { recursive: true, force: true });
  expect(licenseOf(given('bare', license, files))).toContain(sentence);
});

test('a text that several have is written once, below all their names', () => {
  const of = (name: string, text: string) => ({ name, version: '1.0.0', license: 'MIT', text });
  const notice = noticeOf([of('b', 'same'), of('c', 'other'), of('a', 'same')]);
  expect(notice.split('same')).toHaveLength(2);
  expect(notice).toContain('a 1.0.0 (MIT)\nb 1.0.0 (MIT)\n\nsame');
});

test('a package is recognised by its folder, also one within another', () => {
  expect(packageOf('node_modules/@scope/name/dist/a.js')).toBe('node_modules/@scope/name');
  expect(packageOf('node_modules/a/node_modules/b/c.js')).toBe('node_modules/a/node_modules/b');
  expect(packageOf('src/main.ts')).toBeNull();
});

test('posthorn licenses prints all of it: what runs, what is served, the styles and the database', async () => {
  expect(await command({}, 'licenses')).toEqual({ code: 0, out: NOTICE, error: '' });
  for (const name of ['bun', 'elysia', 'react', '@scalar/api-reference', 'tailwindcss', 'mjml-browser'])
    expect(NOTICE).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
  expect(NOTICE).toContain('PostgreSQL Global Development Group');
});

test('a text that is longer than a pipe takes at once arrives whole', () => {
  const piped = ['-c', '"$0" src/main.ts licenses | wc -c', process.execPath];
  const { stdout } = spawnSync('sh', piped, { encoding: 'utf8' });
  expect(Number(stdout)).toBe(Buffer.byteLength(NOTICE));
});
