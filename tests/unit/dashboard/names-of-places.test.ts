import { expect, test } from 'bun:test';
import { actionNames } from '../../../src/web/dashboard/web/application/pages/audit-log/actions.ts';

const SOURCES = new URL('../../../src/', import.meta.url).pathname;

const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');

async function* filesOf(pattern: string): AsyncGenerator<readonly [path: string, text: string]> {
  for await (const path of new Bun.Glob(pattern).scan(SOURCES))
    yield [path, withoutComments(await Bun.file(SOURCES + path).text())];
}

test('the audit log can be filtered by every action that the service records', async () => {
  const recorded = new Set<string>();
  for await (const [, text] of filesOf('{accounts,audience,automation,http,ops,sending,web}/**/*.ts'))
    for (const [, action = ''] of text.matchAll(/\baction: '(\w+\.\w+)'/g)) recorded.add(action);
  expect([...recorded].sort()).toEqual([...actionNames()].sort());
});

test('every address under /app/api is made where it gets the name of the workspace', async () => {
  const places: string[] = [];
  for await (const [path, text] of filesOf('web/dashboard/web/application/**/*.{ts,tsx}'))
    if (/[`'"(]\/app\/api\//.test(text)) places.push(path.slice('web/dashboard/web/application/'.length));
  expect(places.sort()).toEqual(['api/queries.ts', 'api/requests.ts', 'signed-in.tsx']);
});

test('every address of a page is made where it gets the workspace and the environment', async () => {
  const places: string[] = [];
  for await (const [path, text] of filesOf('web/dashboard/web/application/**/*.{ts,tsx}'))
    if (/\/app\/(?:\$\{|test|live)/.test(text))
      places.push(path.slice('web/dashboard/web/application/'.length));
  expect(places.sort()).toEqual(['addresses.ts', 'entrances/operator.tsx']);
});
