import { FormatRegistry, type TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Detail } from './failure.ts';
import { detailsOf } from './schema-errors.ts';

/** A schema made ready: says what is wrong with a value, or null when nothing is. `at` is where the value lies (`/body`). */
export type Checker = (value: unknown, at: string) => readonly Detail[] | null;

/** TypeBox keeps formats in one table for the whole process, which Elysia fills with laxer ones; hence a name of our own. */
const DATE_TIME = 'posthorn-date-time';

/** Compiles a schema of what clients send. Members that it does not state are refused, at every level. */
export function compileChecker(schema: TSchema): Checker {
  FormatRegistry.Set(DATE_TIME, isDateTime);
  const compiled = TypeCompiler.Compile(closed(schema));
  return (value, at) => (compiled.Check(value) ? null : detailsOf(compiled.Errors(value), at));
}

/** The same schema with every object closed that does not say otherwise: a misspelt `scheduledAt` must never send at once. */
export function closed<Schema extends TSchema>(schema: Schema): Schema {
  return close(schema) as Schema;
}

function close(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(close);
  if (typeof part !== 'object' || part === null || part instanceof RegExp) return part;
  // A spread keeps TypeBox's symbols, by which the compiler knows the kinds.
  const copy: Record<string | symbol, unknown> = { ...part };
  for (const [name, inner] of Object.entries(copy)) {
    copy[name] = LITERAL_KEYWORDS.has(name) ? inner : close(inner);
  }
  if (copy.type === 'object' && copy.properties && copy.additionalProperties === undefined) {
    copy.additionalProperties = false;
  }
  if (copy.type === 'string' && copy.format === 'date-time') copy.format = DATE_TIME;
  return copy;
}

/** Their values are data, not schemas. */
const LITERAL_KEYWORDS = new Set(['const', 'default', 'enum', 'examples', 'required']);

const DATE_TIME_SHAPE =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** RFC 3339 with an offset, on a day that exists; a leap second is not taken. */
export function isDateTime(text: string): boolean {
  const parts = DATE_TIME_SHAPE.exec(text);
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay;
}
