import { describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { columnsOf, csvOfList } from '../../src/http/lists/list-csv.ts';
import {
  type Call,
  Page,
  type RawResponse,
  type Route,
  route,
  WrittenPage,
} from '../../src/http/request/route.ts';
import { documentedRoutes } from '../../src/modules.ts';
import { Failure, notFound } from '../../src/platform/errors/failure.ts';

const Item = Type.Object({
  id: Type.String(),
  to: Type.Array(Type.String()),
  actor: Type.Object({ type: Type.String(), name: Type.Union([Type.String(), Type.Null()]) }),
  details: Type.Unsafe<unknown>({}),
});

/** A list of that many pages of two items. */
function listOf(pages: number, read: (after: number) => unknown): Route {
  return route('GET /v1/things', {
    permission: 'emails:read',
    summary: 'List things',
    query: Type.Object({
      status: Type.Optional(Type.String()),
      limit: Type.Integer({ default: 50 }),
      after: Type.Optional(Type.String()),
    }),
    response: Type.Array(Item),
    status: 200,
    handle: ({ query }) => {
      const at = Number(query.after ?? 0);
      const found = read(at);
      if (found instanceof Failure) return found;
      const hasMore = at + 1 < pages;
      const pagination = { hasMore, nextCursor: hasMore ? String(at + 1) : null };
      return typeof found === 'string'
        ? new WrittenPage(found, pagination)
        : new Page(found as never[], pagination);
    },
  });
}

async function fileOf(list: Route, query: object = {}): Promise<string | Failure> {
  const csv = csvOfList(list, { name: 'exportThings', file: 'things.csv', summary: 'Download things' });
  const answer = await csv.handle({ query } as Call);
  if (answer instanceof Failure) return answer;
  return new Response((answer as RawResponse).content).text();
}

const item = (id: string, more: object = {}) => ({
  id,
  to: ['a@b.example'],
  actor: { type: 'member', name: null },
  details: {},
  ...more,
});

describe('the file of a list', () => {
  test('has every page, a row for each item, and the members of its objects as columns', async () => {
    const text = await fileOf(listOf(3, (at) => [item(`${at}a`), item(`${at}b`)]));
    const [header, ...rows] = String(text).trimEnd().split('\r\n');
    expect(header).toBe('id,to,actor.type,actor.name,details');
    expect(rows.map((row) => row.split(',')[0])).toEqual(['0a', '0b', '1a', '1b', '2a', '2b']);
  });

  test('reads a page that is JSON already', async () => {
    const text = await fileOf(
      listOf(1, () => JSON.stringify(item('x', { to: ['a@b.example', 'c@d.example'] }))),
    );
    expect(String(text).split('\r\n')[1]).toBe('x,"a@b.example, c@d.example",member,,{}');
  });

  test.each<[string, unknown, string]>([
    ['a formula', '=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ['a formula of full width', '＋1', `'＋1`],
    ['a line break', 'a\nb', '"a\nb"'],
    ['an object', { a: '=1' }, '"{""a"":""=1""}"'],
    ['a number', -3, '-3'],
    ['nothing', undefined, ''],
  ])('keeps %s from a spreadsheet', async (_, details, cell) => {
    const text = await fileOf(listOf(1, () => [item('x', { details })]));
    expect(String(text).slice(String(text).indexOf('\r\n') + 2)).toBe(`x,a@b.example,member,,${cell}\r\n`);
  });

  test('goes on through pages of a search that found nothing', async () => {
    const text = await fileOf(listOf(4, (at) => (at === 3 ? [item('last')] : [])));
    expect(String(text)).toContain('\r\nlast,');
  });

  test('hands the filters on, and reads no more than a page ahead of the client', async () => {
    const asked: object[] = [];
    const list = listOf(1_000, () => [item('x')]);
    const csv = csvOfList(
      {
        ...list,
        handle: (call) => {
          asked.push((call as Call<unknown, object>).query);
          return list.handle(call);
        },
      },
      { name: 'exportThings', file: 'things.csv', summary: 'Download things' },
    );
    const { content } = (await csv.handle({ query: { status: 'sent' } } as Call)) as RawResponse;
    const reader = (content as ReadableStream).getReader();
    await reader.read();
    await reader.read();
    await reader.cancel();
    expect(asked.length).toBeLessThan(5);
    expect(asked[1]).toEqual({ status: 'sent', limit: 100, after: '1' });
  });

  test('ends a search that finds nothing when its client leaves', async () => {
    const asked: number[] = [];
    const list = listOf(1_000, (at) => {
      asked.push(at);
      return [];
    });
    const csv = csvOfList(list, { name: 'exportThings', file: 'things.csv', summary: 'Download things' });
    const { content } = (await csv.handle({ query: {} } as Call)) as RawResponse;
    const reader = (content as ReadableStream).getReader();
    await reader.read();
    await reader.read();
    await reader.cancel();
    expect(asked.length).toBeLessThan(10);
  });

  test('is a refusal where the list is one, and breaks off where a later page cannot be read', async () => {
    expect(await fileOf(listOf(1, () => notFound('thing')))).toBeInstanceOf(Failure);
    const broken = listOf(2, (at) => (at === 1 ? notFound('thing') : [item('x')]));
    expect(fileOf(broken)).rejects.toThrow('could not be read to its end');
  });
});

const files = documentedRoutes().filter(({ path, name }) => path.endsWith('/export') && name !== undefined);

describe('the files of the service', () => {
  test('are those of every long list', () => {
    expect(files.map(({ path }) => path).sort()).toEqual([
      '/v1/analytics/export',
      '/v1/audit-log/export',
      '/v1/campaigns/:id/recipients/export',
      '/v1/contacts/export',
      '/v1/emails/export',
      '/v1/events/export',
      '/v1/requests/export',
      '/v1/suppressions/export',
      '/v1/webhooks/:id/deliveries/export',
    ]);
  });

  test.each(files.map((each) => [each.path, each] as const))(
    '%s is text with the rights of its list',
    (path, file) => {
      const list = documentedRoutes().find(
        (each) => each.path === path.replace('/export', '') && each.method === 'GET',
      );
      expect(file.responseType).toStartWith('text/csv');
      expect(file.permission).toEqual(list?.permission as never);
      expect(file.query?.properties ?? {}).not.toContainAnyKeys(['after', 'limit']);
      const lists = list?.response.type === 'array' ? columnsOf(list.response) : [];
      expect(new Set(lists.map((each) => each.join('.'))).size).toBe(lists.length);
    },
  );
});
