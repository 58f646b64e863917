/** Every line has these members, which a person reads without their names. */
const UNNAMED = new Set(['level', 'time', 'msg', 'err']);

const shown = (value: unknown): string =>
  typeof value === 'string' && /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value);

/** A JSON log line as a person reads it: `12:03:04.512 INFO  Listening  url=http://127.0.0.1:3000`. */
export function readable(line: string): string {
  const record = JSON.parse(line) as Record<string, unknown>;
  const time = String(record.time).slice(11, 23);
  const level = String(record.level).toUpperCase().padEnd(5);
  const fields = Object.entries(record)
    .filter(([name]) => !UNNAMED.has(name))
    .map(([name, value]) => ` ${name}=${shown(value)}`)
    .join('');
  const { stack } = (record.err ?? {}) as { stack?: string };
  const head = `${time} ${level} ${record.msg ?? ''}${fields && ' '}${fields}`;
  return `${head.trimEnd()}\n${stack === undefined ? '' : `${stack}\n`}`;
}
