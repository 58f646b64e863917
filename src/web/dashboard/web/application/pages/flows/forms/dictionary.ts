/** Values by name while they are edited: a line each, `name = value`. */

/** The text of values as people read it; a text that looks like another type has quotes. */
export const linesOf = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} = ${textOf(value)}`)
    .join('\n');

const textOf = (value: unknown): string =>
  typeof value === 'string' && readValue(value) === value ? value : JSON.stringify(value);

/** The values of lines. What is JSON is what it says, and everything else a text. */
export function valuesIn(lines: string): Readonly<Record<string, unknown>> {
  const entries = lines.split('\n').flatMap((line) => {
    const [name = '', ...rest] = line.split('=');
    return name.trim() === '' ? [] : [[name.trim(), readValue(rest.join('=').trim())] as const];
  });
  return Object.fromEntries(entries);
}

function readValue(text: string): unknown {
  if (!/^(?:true|false|null|-?\d|["[{])/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The name of a resource by its id: the id itself for an unknown one, and `none` for an empty choice. */
export const named = (names: Readonly<Record<string, string>>, id: string, none: string): string =>
  id === '' ? none : ((Object.hasOwn(names, id) ? names[id] : null) ?? id);
