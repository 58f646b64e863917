/** A parameter in the text form that PostgreSQL reads; null for no value. */
export type WireText = string | null;

/**
 * The text of a parameter. postgres.js writes the serialized form over the parameter that it was given, and
 * serializes that once more when it repeats a statement that the server has forgotten (26000): JSON became a
 * JSON string of itself, `true` became `false`, and text[] failed. A text stays what it is however often it
 * is turned into one.
 */
export function wireText(value: unknown): WireText {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return `${value}`;
  if (Array.isArray(value)) return `{${value.map(element).join(',')}}`;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  throw new TypeError(
    'A parameter of a statement must be a text, a number, a boolean, a list of them, or null.',
  );
}

const element = (value: unknown): string => {
  const text = wireText(value);
  return text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`;
};
