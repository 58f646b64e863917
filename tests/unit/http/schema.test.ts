import { describe, expect, test } from 'bun:test';
import { Type as T } from '@sinclair/typebox';
import { type ValueErrorIterator, ValueErrorType } from '@sinclair/typebox/errors';
import Ajv from 'ajv/dist/2020';
import fc from 'fast-check';
import { compileChecker, isDateTime } from '../../../src/http/request/schema.ts';
import { detailsOf } from '../../../src/platform/errors/schema-errors.ts';

const check = compileChecker(
  T.Object({
    name: T.String({ minLength: 1, maxLength: 5 }),
    to: T.Union([T.String(), T.Array(T.String(), { maxItems: 2 })]),
    kind: T.Union([T.Literal('a'), T.Literal('b')]),
    count: T.Optional(T.Integer({ minimum: 1, maximum: 9 })),
    at: T.Optional(T.String({ format: 'date-time' })),
    code: T.Optional(T.String({ pattern: '^x+$' })),
    label: T.Optional(T.String({ minLength: 2, maxLength: 3, pattern: '^[^y]*$' })),
    maybe: T.Optional(T.Union([T.String({ maxLength: 5 }), T.Null()])),
    rate: T.Optional(T.Union([T.Integer({ minimum: 1, maximum: 9 }), T.Null()])),
    share: T.Optional(
      T.Union([
        T.Object({
          percent: T.Number({ exclusiveMinimum: 0, exclusiveMaximum: 100 }),
          steps: T.Optional(T.Union([T.Union([T.Integer({ multipleOf: 5 }), T.Null()]), T.String()])),
        }),
        T.Null(),
      ]),
    ),
    inner: T.Optional(T.Object({ deep: T.Array(T.Object({ flag: T.Boolean() })) })),
    free: T.Optional(T.Record(T.String(), T.Unknown())),
  }),
);
const good = { name: 'ok', to: 'x', kind: 'a' };
/** As it comes out of JSON: an undefined member is a missing one. */
const details = (changes: object) => check(JSON.parse(JSON.stringify({ ...good, ...changes })), '/body');

test('a valid body has no error details', () => {
  expect(details({})).toBeNull();
  expect(
    details({ to: ['a', 'b'], count: 9, at: '2026-01-31T09:30:00Z', code: 'xx', maybe: null }),
  ).toBeNull();
  expect(details({ free: { any: [{ thing: 1 }] } })).toBeNull();
});

describe('an error detail says where and what to do', () => {
  test.each<[object, string, string]>([
    [{ name: undefined }, '/body/name', 'This is required.'],
    [{ name: '' }, '/body/name', 'Must not be empty.'],
    [{ name: 'secret' }, '/body/name', 'Use at most 5 characters.'],
    [{ name: 7 }, '/body/name', 'Send a string.'],
    [{ to: 7 }, '/body/to', 'Send a string or an array.'],
    [{ to: ['a', 7] }, '/body/to/1', 'Send a string.'],
    [{ to: ['a', 'b', 'c'] }, '/body/to', 'Give at most 2 items.'],
    [{ kind: 'c' }, '/body/kind', 'Send one of "a", "b".'],
    [{ count: '3' }, '/body/count', 'Send an integer.'],
    [{ count: 1.5 }, '/body/count', 'Must be a whole number.'],
    [{ count: 0 }, '/body/count', 'Must be at least 1.'],
    [{ count: 10 }, '/body/count', 'Must be at most 9.'],
    [{ code: 'y' }, '/body/code', 'Wrong format.'],
    [{ label: 7 }, '/body/label', 'Send a string.'],
    [{ label: 'y' }, '/body/label', 'Use at least 2 characters.'],
    [{ label: 'xxxy' }, '/body/label', 'Use at most 3 characters.'],
    [{ label: 'xy' }, '/body/label', 'Wrong format.'],
    [{ maybe: 1 }, '/body/maybe', 'Send a string or null.'],
    [{ maybe: 'secret' }, '/body/maybe', 'Use at most 5 characters.'],
    [{ rate: 0 }, '/body/rate', 'Must be at least 1.'],
    [{ rate: 10 }, '/body/rate', 'Must be at most 9.'],
    [{ rate: 1.5 }, '/body/rate', 'Must be a whole number.'],
    [{ rate: '1' }, '/body/rate', 'Send an integer or null.'],
    [{ share: { percent: 0 } }, '/body/share/percent', 'Must be more than 0.'],
    [{ share: { percent: 100 } }, '/body/share/percent', 'Must be less than 100.'],
    [{ share: { percent: '1' } }, '/body/share/percent', 'Send a number.'],
    [{ share: { percent: 1, steps: 7 } }, '/body/share/steps', 'Must be a multiple of 5.'],
    [{ inner: [] }, '/body/inner', 'Send an object.'],
    [
      { inner: { deep: [{ flag: true }, { flag: 'true' }] } },
      '/body/inner/deep/1/flag',
      'Send true or false.',
    ],
    [{ inner: { deep: [{ flag: true, x: 1 }] } }, '/body/inner/deep/0/x', 'No such member; known are flag.'],
    [
      { at: '2026-02-30T00:00:00Z' },
      '/body/at',
      'Send an ISO 8601 date and time with an offset or Z, such as 2026-01-31T09:30:00Z.',
    ],
  ])('%p', (changes, path, message) => expect(details(changes)).toEqual([{ path, message }]));
});

describe('a length counts code points, as JSON Schema does', () => {
  test.each([
    { name: '😀😀😀😀😀' },
    { maybe: '😀😀😀😀😀' },
    { label: '😀😀' },
    { label: '😀😀😀' },
    { label: 'x😀x' },
  ])('%p is taken', (changes) => expect(details(changes)).toBeNull());

  test.each<[object, string, string]>([
    [{ name: '😀😀😀😀😀x' }, '/body/name', 'Use at most 5 characters.'],
    [{ name: '😀😀😀😀😀😀' }, '/body/name', 'Use at most 5 characters.'],
    [{ maybe: '😀😀😀😀😀😀' }, '/body/maybe', 'Use at most 5 characters.'],
    [{ label: '😀' }, '/body/label', 'Use at least 2 characters.'],
    [{ label: '😀😀😀x' }, '/body/label', 'Use at most 3 characters.'],
  ])('%p is refused', (changes, path, message) => expect(details(changes)).toEqual([{ path, message }]));

  test('agrees with a validator of JSON Schema on every text', () => {
    const schema = T.String({ minLength: 3, maxLength: 6 });
    const [ours, theirs] = [compileChecker(schema), new Ajv().compile(schema)];
    const text = fc.string({ unit: 'binary', maxLength: 9 });
    fc.assert(fc.property(text, (value) => expect(ours(value, '') === null).toBe(theirs(value))));
  });

  test('a list of wrong texts that might be one text has as many details as another', () => {
    const list = compileChecker(T.Union([T.String(), T.Array(T.String({ maxLength: 3 }))]));
    expect(list(Array(25).fill('long'), '')).toHaveLength(20);
    expect(list(Array(25).fill(7), '')).toHaveLength(20);
  });
});

test.each([[null], [[]], [1], ['text'], [true]])('%p instead of an object is one detail', (value) => {
  expect(check(value, '/body')).toEqual([{ path: '/body', message: 'Send an object.' }]);
});

test('an unknown member is refused at every level, even __proto__', () => {
  expect(check(JSON.parse('{"name":"ok","to":"x","kind":"a","__proto__":{"x":1}}'), '/body')?.[0]?.path).toBe(
    '/body/__proto__',
  );
  expect(details({ scheduledat: 'x' })?.[0]?.path).toBe('/body/scheduledat');
});

test('members may have names that are also keywords', () => {
  const schema = T.Object({
    required: T.Boolean(),
    default: T.Object({ format: T.String({ format: 'date-time' }) }),
  });
  const checkIt = compileChecker(schema);
  expect(checkIt({ required: true, default: { format: '2026-01-31T09:30:00Z' } }, '')).toBeNull();
  const wrong = { required: 1, default: { format: '2026-02-30T00:00:00Z', enum: 1 } };
  expect(
    checkIt(wrong, '')
      ?.map(({ path }) => path)
      .sort(),
  ).toEqual(['/default/enum', '/default/format', '/required']);
});

test('error details end at twenty, and leave out an endless member name', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`m${i}`, 1]));
  expect(details(many)).toHaveLength(20);
  expect(details({ ['x'.repeat(100_000)]: 1 })?.[0]?.path).toBe('/body');
});

test('validation stops after twenty errors', () => {
  const schema = T.String();
  function* errors() {
    for (let i = 0; i < 25; i++)
      yield { type: ValueErrorType.String, schema, path: `/${i}`, value: i, message: '', errors: [] };
    throw new Error('looked too far');
  }
  const details = detailsOf(errors() as unknown as ValueErrorIterator, '/body');
  expect(details.map(({ path }) => path)).toEqual(Array.from({ length: 20 }, (_, i) => `/body/${i}`));
});

test('places that are shortened to the same one do not let the search go on for ever', () => {
  let looked = 0;
  function* errors() {
    for (; looked < 250_000; looked++)
      yield {
        type: ValueErrorType.ObjectAdditionalProperties,
        schema: T.Object({}),
        path: `/${'x'.repeat(300)}${looked}`,
        value: 1,
        message: '',
        errors: [],
      };
  }
  expect(detailsOf(errors() as unknown as ValueErrorIterator, '/body')).toHaveLength(1);
  expect(looked).toBeLessThan(200);
});

test('a list of 250,000 wrong items has twenty details at most, and no more of them are visited', () => {
  let visited = 0;
  const items = Array.from({ length: 250_000 }, () => ({
    get flag() {
      visited++;
      return 'no';
    },
  }));
  expect(check({ ...good, inner: { deep: items } }, '/body')).toHaveLength(20);
  expect(visited).toBeLessThan(200);
  expect(check({ ...good, to: items }, '/body')?.length).toBeLessThanOrEqual(20);
});

test('error details repeat no value', () => {
  const marker = 'qzx';
  const marked = fc.string().map((text) => `${marker}${text}`);
  const value = fc.record(
    {
      name: fc.oneof(marked, fc.constant(1)),
      to: fc.oneof(marked, fc.array(marked), fc.constant(null)),
      kind: marked,
      count: marked,
      at: marked,
      code: marked,
      inner: fc.oneof(marked, fc.record({ deep: fc.array(fc.record({ flag: marked })) })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(value, (sent) => {
      const messages =
        check(sent, '/body')
          ?.map(({ message }) => message)
          .join() ?? '';
      expect(messages).not.toContain(marker);
    }),
  );
});

describe('the date-time format', () => {
  test.each([
    '2026-01-31T09:30:00Z',
    '2024-02-29T23:59:59.123456789+14:00',
    '2000-02-29T00:00:00-00:00',
    '0001-01-01T00:00:00Z',
  ])('%s is one', (text) => expect(isDateTime(text)).toBe(true));
  test.each([
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-10T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-31',
    '2026-01-31T09:30:00',
    '2026-01-31 09:30:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T09:60:00Z',
    '2026-01-31T09:30:60Z',
    '2026-01-31T09:30:00+24:00',
    '2026-01-31T09:30:00.Z',
    '+002026-01-31T09:30:00Z',
    ' 2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00Z\n',
    '',
  ])('%p is none', (text) => expect(isDateTime(text)).toBe(false));

  test('agrees with Date on every day', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
        (date) => {
          expect(isDateTime(date.toISOString())).toBe(true);
        },
      ),
    );
  });
});
