import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox';

/** An object with members of any name. TypeBox's own Record does not check names that hold a line break. */
export const dictionary = <Value extends TSchema>(
  value: Value,
  options: object = {},
): TUnsafe<Record<string, Static<Value>>> =>
  Type.Unsafe(Type.Object({}, { additionalProperties: value, ...options }));
/** The schema, or null. */
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
/** A moment, in UTC. */
export const Timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-31T09:30:00.000Z'] });
/** The id of something of a kind. */
export const Id = (prefix: string, description: string) =>
  Type.String({ description, examples: [`${prefix}_06fqk3d5vg8x2m7c1pzt4nwy`] });

/** An address, with a name or without. */
export const AddressText = Type.String({
  description:
    '`user@host` or `Name <user@host>`; a name that holds one of `()<>[]:;@\\,"` goes in double quotes.',
  examples: ['Ada Lovelace <ada@example.com>'],
});

const TagText = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,256}$',
  description: '1 to 256 letters of A to Z, digits, `_` and `-`.',
});

/** A label by which emails can be found and counted. */
export const Tag = Type.Object(
  { name: TagText, value: TagText },
  { title: 'EmailTag', additionalProperties: false, examples: [{ name: 'order', value: '1842' }] },
);
