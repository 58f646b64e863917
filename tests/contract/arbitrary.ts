import fc, { type Arbitrary } from 'fast-check';
import type { OpenApiDocument, Operation, Parameter } from '../../src/web/docs/openapi/document.ts';
import type { JsonSchema } from '../../src/web/docs/openapi/json-schema.ts';
import type { Asking } from './ask.ts';

/**
 * Requests of one operation: mostly of the form that the document states, some with a wrong part anywhere.
 */
export function askings(
  method: string,
  template: string,
  operation: Operation,
  document: OpenApiDocument,
  ids: readonly string[],
): Arbitrary<Asking> {
  const parameters = (operation.parameters ?? []).map((each) => resolved(each, document));
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const schema = operation.requestBody?.content['application/json']?.schema;
  return fc
    .record({
      path: pathOf(template, ids),
      search: searchOf(inQuery),
      headers: fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: oddHeaders }),
      body: schema
        ? fc.oneof({ weight: 9, arbitrary: valueFor(schema) }, JUNK)
        : fc.option(JUNK, { nil: undefined, freq: 1 }),
    })
    .map(({ path, search, headers, body }) => ({
      method,
      path: `${path}${search}`,
      headers,
      ...(method !== 'GET' && body !== undefined && { body: JSON.stringify(body) ?? 'undefined' }),
    }));
}

/** Values that clients should never send: any JSON, with every character that there is. */
const JUNK: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
);

const oddHeaders: Arbitrary<Record<string, string>> = fc.oneof(
  fc.stringMatching(/^[ -~]{0,300}$/).map((key) => ({ 'idempotency-key': key })),
  fc
    .constantFrom(
      'text/plain',
      'application/json; charset=utf-8',
      'application/json;',
      'a',
      'multipart/form-data',
    )
    .map((type) => ({ 'content-type': type })),
  fc.constant({ 'content-encoding': 'gzip' }),
);

function pathOf(template: string, ids: readonly string[]): Arbitrary<string> {
  const segment = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...ids) },
    {
      weight: 1,
      arbitrary: fc
        .string({ minLength: 1 })
        .filter((text) => text !== '.' && text !== '..')
        .map(encodeURIComponent),
    },
  );
  return fc
    .tuple(...template.split('/').map((part) => (part.startsWith('{') ? segment : fc.constant(part))))
    .map((parts) => parts.join('/'));
}

function searchOf(parameters: readonly Parameter[]): Arbitrary<string> {
  const known = parameters.map(({ name, schema }) =>
    valueFor(schema).map((value) => `${name}=${encoded(value)}`),
  );
  const stray = fc
    .tuple(fc.string(), fc.string())
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  const one = fc.oneof(
    { weight: 1, arbitrary: stray },
    ...known.map((arbitrary) => ({ weight: 3, arbitrary })),
  );
  const some = fc
    .array(one, { maxLength: 4 })
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));
  return fc.oneof({ weight: 2, arbitrary: fc.constant('') }, { weight: 3, arbitrary: some });
}

/**
 * The text of a value in a query. `String` throws for an object without a prototype, which is generated now
 * and then.
 */
const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
};

const encoded = (value: unknown) => encodeURIComponent(textOf(value).toWellFormed());

/** Values that a schema means, and now and then something else in their place. */
function valueFor(schema: JsonSchema): Arbitrary<unknown> {
  return fc.oneof({ weight: 24, arbitrary: meant(schema) }, { weight: 1, arbitrary: JUNK });
}

function meant(schema: JsonSchema): Arbitrary<unknown> {
  const { anyOf, enum: choices, type, examples } = schema;
  if (choices) return fc.constantFrom(...choices);
  if (anyOf) return fc.oneof(...anyOf.map(valueFor));
  if (Array.isArray(type)) return fc.oneof(...type.map((each: string) => meant({ ...schema, type: each })));
  const shown = (examples ?? []) as unknown[];
  const free = ofType(schema);
  return shown.length > 0 ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...shown) }, free) : free;
}

function ofType(schema: JsonSchema): Arbitrary<unknown> {
  switch (schema.type) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.array(valueFor(schema.items ?? {}), { maxLength: 5 });
    case 'string':
      return schema.format === 'date-time'
        ? fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
        : fc.oneof(
            fc.string({ unit: 'grapheme', maxLength: 40 }),
            fc.string({ unit: 'binary', maxLength: 40 }),
          );
    case 'integer':
      return fc.integer({ min: -1, max: 200 });
    case 'number':
      return fc.double();
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return JUNK;
  }
}

function objectOf({ properties = {}, required = [] }: JsonSchema): Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, valueFor(part)]),
  );
  const known = fc.record(members, { requiredKeys: [...required] });
  const extra = fc.dictionary(fc.string(), JUNK, { minKeys: 1, maxKeys: 2 });
  return fc.oneof(
    { weight: 12, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, extra).map(([a, b]) => ({ ...a, ...b })) },
  );
}

function resolved(
  parameter: NonNullable<Operation['parameters']>[number],
  { components }: OpenApiDocument,
): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const found = components.parameters[parameter.$ref.slice(parameter.$ref.lastIndexOf('/') + 1)];
  if (!found) throw new Error(`${parameter.$ref} leads nowhere`);
  return found;
}
