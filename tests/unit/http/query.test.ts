import { expect, test } from 'bun:test';
import { Type as T } from '@sinclair/typebox';
import fc from 'fast-check';
import { pageQuery } from '../../../src/http/lists/pagination.ts';
import { compileQuery, noQuery } from '../../../src/http/request/query.ts';
import { Failure } from '../../../src/platform/errors/failure.ts';

const read = compileQuery(
  T.Object({
    ...pageQuery,
    status: T.Optional(T.Union([T.Literal('sent'), T.Literal('failed')])),
    tag: T.Optional(T.String()),
    upsert: T.Optional(T.Boolean()),
  }),
);
const paths = (search: string, reader = read) => {
  const result = reader(search);
  return result instanceof Failure ? result.extra.details?.map(({ path }) => path) : result;
};

test('query parameters default when nothing is sent', () => expect(read('')).toEqual({ limit: 50 }));

test('query parameters are typed and decoded', () => {
  expect(read('limit=7&after=abc&status=sent&tag=a%3Ab+c%2B&upsert=true')).toEqual({
    limit: 7,
    after: 'abc',
    status: 'sent',
    tag: 'a:b c+',
    upsert: true,
  });
  expect(read('tag=&upsert=false&&')).toEqual({ limit: 50, tag: '', upsert: false });
});

test.each([
  ['limit=0', ['/query/limit']],
  ['limit=101', ['/query/limit']],
  ['limit=-1', ['/query/limit']],
  ['limit=1.5', ['/query/limit']],
  ['limit=1e1', ['/query/limit']],
  ['limit=0x10', ['/query/limit']],
  ['limit=%2010', ['/query/limit']],
  ['limit=+10', ['/query/limit']],
  ['limit=010', ['/query/limit']],
  ['limit=', ['/query/limit']],
  ['limit', ['/query/limit']],
  ['limit=99999999999999999999', ['/query/limit']],
  ['limit=5&limit=6', ['/query/limit']],
  ['limit[]=5', ['/query/limit[]']],
  ['status=SENT', ['/query/status']],
  ['upsert=1', ['/query/upsert']],
  ['sort=asc', ['/query/sort']],
  ['a/b=1', ['/query/a~1b']],
  ['__proto__=1', ['/query/__proto__']],
  ['constructor=1', ['/query/constructor']],
  ['toString=1&valueOf=2', ['/query/toString', '/query/valueOf']],
  ['tag=%zz', ['/query']],
  ['tag=%ff', ['/query']],
  ['tag=a%00b', ['/query']],
  ['%ff=1', ['/query']],
])('%s is refused at %p', (search, expected) => expect(paths(search)).toEqual(expected));

test('query parameters are refused by an endpoint without any', () => {
  expect(paths('', noQuery)).toEqual({});
  expect(paths('&', noQuery)).toEqual({});
  expect(paths('verbose=1', noQuery)).toEqual(['/query/verbose']);
});

test('query parsing never throws and never admits an unknown parameter', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (search) => {
      const result = read(search);
      const names = result instanceof Failure ? [] : Object.keys(result);
      expect(names.filter((name) => !['after', 'limit', 'status', 'tag', 'upsert'].includes(name))).toEqual(
        [],
      );
    }),
  );
});

test('a parameter that is needed is missed without any query as well', () => {
  const needing = compileQuery(T.Object({ to: T.String(), limit: T.Integer({ default: 5 }) }));
  for (const search of ['', 'limit=3'])
    expect(needing(search)).toMatchObject({
      code: 'VALIDATION_ERROR',
      extra: { details: [{ path: '/query/to' }] },
    });
  expect(needing('to=a')).toEqual({ to: 'a', limit: 5 });
});
