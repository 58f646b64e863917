import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { PARTITIONED } from '../src/platform/db/partitions.ts';

// bun run migration add_notes            writes drizzle/0002_add_notes.sql: the changes of
// src/platform/db/schema. bun run migration fill_notes --custom  writes an empty one, for hand-written
// statements. bun run migration --first              writes drizzle/0000_schema.sql again, as long as nothing
// is released.
//
// drizzle-kit compares the schema with its last snapshot. See drizzle/README.md.

const FOLDER = 'drizzle';
const META = `${FOLDER}/meta`;
const JOURNAL = `${META}/_journal.json`;
const FIRST = '0000_schema';
const HAND_WRITTEN = '0001_hand_written';

interface Journal {
  readonly version: string;
  readonly dialect: string;
  readonly entries: { readonly idx: number; readonly tag: string; [more: string]: unknown }[];
}

const journal = (): Journal => JSON.parse(readFileSync(JOURNAL, 'utf8')) as Journal;
const snapshots = (): string[] =>
  readdirSync(META)
    .filter((file) => file.endsWith('_snapshot.json'))
    .sort();

/** The clauses that drizzle-kit cannot write; and no names of a schema, since a connection may choose one. */
const completed = (sql: string): string =>
  PARTITIONED.reduce(
    (text, { table, column }) =>
      text.replace(
        new RegExp(`(CREATE TABLE "${table}" \\([\\s\\S]*?\\n\\));`),
        `$1 PARTITION BY RANGE ("${column}");`,
      ),
    sql.replaceAll('"public".', ''),
  );

/** A table a line, so that a change is a short diff. */
function printed(snapshot: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(snapshot).map(([name, value]) => {
    const lines = Object.entries(name === 'tables' ? (value as object) : {}).map(
      ([key, table]) => `    ${JSON.stringify(key)}: ${JSON.stringify(table)}`,
    );
    const text = lines.length > 0 ? `{\n${lines.join(',\n')}\n  }` : JSON.stringify(value);
    return `  ${JSON.stringify(name)}: ${text}`;
  });
  return `{\n${members.join(',\n')}\n}\n`;
}

function generate(name: string, ...flags: readonly string[]): void {
  const words = ['generate', `--name=${name}`, ...flags];
  const { status } = spawnSync('drizzle-kit', words, { stdio: 'inherit' });
  if (status !== 0) throw new Error('drizzle-kit failed: its message is above.');
  const [newest, ...older] = snapshots().reverse();
  const tag = journal().entries.at(-1)?.tag;
  if (!newest?.startsWith(`${tag?.slice(0, 4)}_`)) return;
  const sql = `${FOLDER}/${tag}.sql`;
  writeFileSync(sql, `${completed(readFileSync(sql, 'utf8')).trimEnd()}\n`);
  // drizzle-kit reads the last one alone, and each repeats all tables.
  for (const file of older) rmSync(`${META}/${file}`);
  const path = `${META}/${newest}`;
  writeFileSync(path, printed(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>));
}

/** The first migration again, and the hand-written one behind it in the journal. */
function generateFirst(): void {
  const others = readdirSync(FOLDER).filter(
    (file) => file.endsWith('.sql') && !file.startsWith(FIRST) && !file.startsWith(HAND_WRITTEN),
  );
  if (others.length > 0)
    throw new Error(
      `Fold ${others.join(', ')} first: move hand-written statements to ${HAND_WRITTEN}.sql, and delete the file.`,
    );
  rmSync(`${FOLDER}/${FIRST}.sql`, { force: true });
  rmSync(META, { recursive: true, force: true });
  generate('schema');
  const { entries, ...rest } = journal();
  const [first] = entries;
  const all = [first, { ...first, idx: 1, tag: HAND_WRITTEN }];
  writeFileSync(JOURNAL, `${JSON.stringify({ ...rest, entries: all }, null, 2)}\n`);
}

const [name, ...flags] = process.argv.slice(2);
if (name === '--first') generateFirst();
else if (name && /^[a-z][a-z_]*$/.test(name)) generate(name, ...flags);
else throw new Error('Name the migration in small letters and underscores, such as add_notes.');
await import('./migrations.ts');
