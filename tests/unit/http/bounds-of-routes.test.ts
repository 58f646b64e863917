import { expect, test } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import type { Route } from '../../../src/http/request/route.ts';
import { compileChecker } from '../../../src/http/request/schema.ts';
import { documentedRoutes } from '../../../src/modules.ts';

/** A field of a request, with its place. */
interface Field {
  readonly at: string;
  readonly schema: TSchema;
}

/** A value just outside of a bound, and the number that its refusal has to name. */
interface Outside {
  readonly value: unknown;
  readonly bound: number;
}

const fieldsOf = (route: Route): readonly Field[] =>
  (['query', 'body'] as const).flatMap((part) => {
    const schema = route[part];
    return schema ? inside({ at: `${route.method} ${route.path} ${part}`, schema }) : [];
  });

/** The field itself, and all fields within it. */
function inside({ at, schema }: Field): readonly Field[] {
  const forms: readonly TSchema[] = schema.anyOf ?? [schema];
  const within = forms.flatMap((form): readonly Field[] => {
    if (form.anyOf) return inside({ at, schema: form });
    const members = Object.entries<TSchema>(form.properties ?? {});
    return [
      ...members.flatMap(([name, member]) => inside({ at: `${at}/${name}`, schema: member })),
      ...(form.items && !Array.isArray(form.items) ? inside({ at: `${at}/*`, schema: form.items }) : []),
    ];
  });
  return [{ at, schema }, ...within];
}

const formsOf = (schema: TSchema): readonly TSchema[] =>
  schema.anyOf ? schema.anyOf.flatMap(formsOf) : [schema];

function outsideOf(form: TSchema): readonly Outside[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, maxLength } = form;
  return [
    ...(minimum === undefined ? [] : [{ value: minimum - 1, bound: minimum }]),
    ...(maximum === undefined ? [] : [{ value: maximum + 1, bound: maximum }]),
    ...(exclusiveMinimum === undefined ? [] : [{ value: exclusiveMinimum, bound: exclusiveMinimum }]),
    ...(exclusiveMaximum === undefined ? [] : [{ value: exclusiveMaximum, bound: exclusiveMaximum }]),
    ...(maxLength === undefined
      ? []
      : ['x', '😀'].map((one) => ({ value: one.repeat(maxLength + 1), bound: maxLength }))),
  ];
}

test('a value just outside of a bound is refused with the bound, in every field of every route', () => {
  let told = 0;
  const silent: string[] = [];
  for (const { at, schema } of documentedRoutes().flatMap(fieldsOf)) {
    const check = compileChecker(schema);
    for (const { value, bound } of formsOf(schema).flatMap(outsideOf)) {
      const [detail] = check(value, '') ?? [];
      const message = detail?.message ?? 'taken';
      if (new RegExp(`(?<![-\\d.])${bound}(?!\\d)`).test(message)) told++;
      else silent.push(`${at}, ${typeof value} beyond ${bound}: ${message}`);
    }
  }
  expect(silent).toEqual([]);
  expect(told).toBeGreaterThan(100);
});

test('a text as long as its bound is not too long, though each of its characters is two UTF-16 units', () => {
  const refused: string[] = [];
  let seen = 0;
  for (const { at, schema } of documentedRoutes().flatMap(fieldsOf)) {
    const check = compileChecker(schema);
    for (const { maxLength } of formsOf(schema)) {
      if (maxLength === undefined) continue;
      seen++;
      if (check('😀'.repeat(maxLength), '')?.some(({ message }) => message.startsWith('Use at most')))
        refused.push(at);
    }
  }
  expect(refused).toEqual([]);
  expect(seen).toBeGreaterThan(50);
});
