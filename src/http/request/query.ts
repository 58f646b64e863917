import { Kind, type TObject, type TSchema } from '@sinclair/typebox';
import { type Detail, Failure, invalid, invalidAt } from '../../platform/errors/failure.ts';
import { MOST_DETAILS, pointerSegment, shortened } from '../../platform/errors/schema-errors.ts';
import { compileChecker } from './schema.ts';

/** Reads the text after `?` into typed values, or refuses it. */
export type QueryReader = (search: string) => Readonly<Record<string, unknown>> | Failure;

/** The reader of a route without query parameters. */
export const noQuery: QueryReader = (search) => (search === '' ? NOTHING : refuseAll(search));

/**
 * The reader of what people, probes and scrapers open: parameters that trackers and others append are
 * ignored.
 */
export const anyQuery: QueryReader = () => NOTHING;

const NOTHING = Object.freeze({});

function refuseAll(search: string): typeof NOTHING | Failure {
  const pairs = split(search);
  if (pairs instanceof Failure) return pairs;
  return pairs.length === 0
    ? NOTHING
    : invalid(pairs.slice(0, MOST_DETAILS).map(([name]) => unknownParameter(name, [])));
}

/**
 * Makes the reader for a schema of strings, integers, booleans, choices and lists of strings, each of which
 * is a parameter. It refuses unknown and other repeated parameters, and numbers that are not written in plain
 * decimal digits.
 */
export function compileQuery(schema: TObject): QueryReader {
  const check = compileChecker(schema);
  const known = Object.keys(schema.properties);
  const defaults: Record<string, unknown> = {};
  for (const name of known) {
    const value = schema.properties[name]?.default;
    if (value !== undefined) defaults[name] = value;
  }
  let needsSome: boolean | undefined;
  return (search) => {
    needsSome ??= (check(defaults, '/query') ?? []).length > 0;
    if (search === '' && !needsSome) return { ...defaults };
    const pairs = split(search);
    if (pairs instanceof Failure) return pairs;
    const values: Record<string, unknown> = { ...defaults };
    const details: Detail[] = [];
    const seen = new Set<string>();
    for (const [name, text] of pairs) {
      const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      if (!property) details.push(unknownParameter(name, known));
      else if (property[Kind] === 'Array')
        values[name] = [...((values[name] as readonly unknown[] | undefined) ?? []), text];
      else if (seen.has(name))
        details.push({ path: `/query/${name}`, message: 'Send this parameter only once.' });
      else values[name] = typed(property, text);
      seen.add(name);
    }
    details.push(...(check(values, '/query') ?? []));
    return details.length > 0 ? invalid(details.slice(0, MOST_DETAILS)) : values;
  };
}

const unknownParameter = (name: string, known: readonly string[]): Detail => ({
  path: shortened(`/query${pointerSegment(name)}`),
  message:
    known.length === 0
      ? 'This endpoint has no query parameters.'
      : `No such query parameter. Known parameters: ${known.join(', ')}.`,
});

/**
 * Converts a text to the schema's type when it is written as one; otherwise leaves it for the schema to
 * refuse.
 */
function typed(schema: TSchema, text: string): unknown {
  if (schema[Kind] === 'Integer') return /^-?(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
  if (schema[Kind] === 'Boolean') return text === 'true' || (text === 'false' ? false : text);
  return text;
}

function split(search: string): [name: string, value: string][] | Failure {
  const pairs: [string, string][] = [];
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (name === null || value === null) return BADLY_ENCODED;
    pairs.push([name, value]);
  }
  return pairs;
}

const BADLY_ENCODED = invalidAt('/query', 'Percent-encode the query as UTF-8, without NUL characters.');

function decode(text: string): string | null {
  try {
    const decoded =
      text.includes('%') || text.includes('+') ? decodeURIComponent(text.replaceAll('+', ' ')) : text;
    return decoded.includes('\0') ? null : decoded;
  } catch {
    return null;
  }
}
