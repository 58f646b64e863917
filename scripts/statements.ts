import { readdirSync } from 'node:fs';
import { MODULE_KINDS, withOthers } from '../src/modules.ts';
import { keepFresh } from './fresh.ts';
import { indexPage, kindPage } from './sql/pages.ts';

// The statements of the engine, for readers: the same text that the store sends.

const FOLDER = 'docs/sql';

const kinds = MODULE_KINDS.map(({ kind }) => withOthers({ kind }).kind);
const pages = new Map(kinds.map((kind) => [`${kind.name}.md`, kindPage(kind)]));
pages.set('README.md', indexPage(kinds));
for (const [name, page] of pages) keepFresh(`${FOLDER}/${name}`, page);
for (const name of readdirSync(FOLDER))
  if (!pages.has(name)) {
    console.error(`${FOLDER}/${name} belongs to no kind: remove it.`);
    process.exitCode = 1;
  }
