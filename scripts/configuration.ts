import { readFileSync } from 'node:fs';
import type { Setting } from '../src/platform/config/settings/setting.ts';
import { SETTINGS } from '../src/platform/config/settings/settings.ts';
import { keepFresh } from './fresh.ts';

// The table in docs/configuration.md lists exactly the settings that the service reads.

const PAGE = 'docs/configuration.md';
const START = '<!-- configuration: written by `bun run generate` -->';
const END = '<!-- end of configuration -->';

const cell = (text: string) => text.replaceAll('|', '\\|');
const rows = Object.entries<Setting>(SETTINGS).map(
  ([name, { about, otherwise }]) => `| \`${name}\` | ${cell(about)} | ${cell(otherwise)} |`,
);
const table = ['| Variable | Meaning | Default |', '| --- | --- | --- |', ...rows].join('\n');

const page = readFileSync(PAGE, 'utf8');
const [before, rest] = page.split(START);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined)
  throw new Error(`${PAGE} lacks the lines "${START}" and "${END}".`);
keepFresh(PAGE, `${before}${START}\n\n${table}\n\n${END}${after}`);
