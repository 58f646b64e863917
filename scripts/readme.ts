import { readFileSync } from 'node:fs';
import { SETTINGS, type Setting } from '../src/settings.ts';
import { keepFresh } from './fresh.ts';

// Keeps the configuration table of the README equal to what the service reads.

const START = '<!-- configuration: written by `bun run generate` -->';
const END = '<!-- end of configuration -->';

const cell = (text: string) => text.replaceAll('|', '\\|');
const rows = Object.entries<Setting>(SETTINGS).map(
  ([name, { about, otherwise }]) => `| \`${name}\` | ${cell(about)} | ${cell(otherwise)} |`,
);
const table = ['| Variable | What it is | Without it |', '| --- | --- | --- |', ...rows].join('\n');

const readme = readFileSync('README.md', 'utf8');
const [before, rest] = readme.split(START);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined)
  throw new Error(`README.md lacks the lines "${START}" and "${END}".`);
keepFresh('README.md', `${before}${START}\n\n${table}\n\n${END}${after}`);
