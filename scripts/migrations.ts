import { readdirSync } from 'node:fs';
import { keepFresh } from './fresh.ts';

// The executable contains its migrations, so each has to be imported by name: this lists the files of
// drizzle/.

/** `0001_add_notes.sql` → `addNotes` */
const variableOf = (name: string): string =>
  name.replace(/^\d+_/, '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const names = readdirSync('drizzle')
  .filter((file) => file.endsWith('.sql'))
  .map((file) => file.slice(0, -'.sql'.length))
  .sort();
const imports = names.map(
  (name) => `import ${variableOf(name)} from '../../../drizzle/${name}.sql' with { type: 'text' };`,
);
const items = names.map((name) => `  { name: '${name}', sql: ${variableOf(name)} },`);

keepFresh(
  'src/platform/db/migrations.ts',
  `// Written by scripts/migrations.ts from the files in drizzle/. See drizzle/README.md.
${imports.join('\n')}

/** One step of the schema. Never changed once released: its hash is compared at every start. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** All of them, oldest first; carried inside the executable. */
// biome-ignore format: generated
export const migrations: readonly Migration[] = [
${items.join('\n')}
];
`,
);
