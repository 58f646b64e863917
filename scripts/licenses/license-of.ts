import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package and the text that its licence asks to be passed on. */
export interface Licensed {
  readonly name: string;
  readonly version: string;
  /** The identifier of SPDX. */
  readonly license: string;
  readonly text: string;
}

/** The licences that may be shipped: they require their text, and nothing of the users of the executable. */
const ALLOWED: ReadonlySet<string> = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'Unlicense',
]);

/** The choice for packages that offer several licences. */
const CHOSEN: ReadonlyMap<string, string> = new Map([
  ['@zone-eu/mailsplit', 'MIT'],
  ['node-forge', 'BSD-3-Clause'],
]);

/**
 * Packages that name a licence and carry no text of it, with the author that they name: they get the common
 * text.
 */
const WITHOUT_TEXT: ReadonlyMap<string, string> = new Map([
  ['@headlessui/vue', 'Copyright (c) 2020 Tailwind Labs'],
  ['@replit/codemirror-css-color-picker', 'Copyright (c) Faris Masad'],
  ['@scalar/api-reference', 'Copyright (c) 2023-present Scalar'],
  ['@scalar/schemas', 'Copyright (c) 2023-present Scalar'],
  ['@scalar/workspace-store', 'Copyright (c) 2023-present Scalar'],
  ['agent-base', 'Copyright (c) 2013 Nathan Rajlich'],
  ['boolbase', 'Copyright (c) Felix Boehm'],
  ['drizzle-orm', 'Copyright (c) Drizzle Team'],
  ['https-proxy-agent', 'Copyright (c) 2013 Nathan Rajlich'],
  ['postgres', 'By Rasmus Porsager'],
  ['wouter', 'By Alexey Taktarov'],
]);

const TEXTS = join(import.meta.dir, 'texts');

const COMMON: ReadonlyMap<string, string> = new Map([
  ['MIT', join(TEXTS, 'MIT.txt')],
  ['ISC', join(TEXTS, 'ISC.txt')],
  ['Unlicense', join(TEXTS, 'Unlicense.txt')],
  // Our own is the same.
  ['Apache-2.0', join(import.meta.dir, '../../LICENSE')],
]);

/** The code of others that packages contain without saying so in their texts: PGlite is PostgreSQL. */
const CARRIED: ReadonlyMap<string, string> = new Map([
  ['@electric-sql/pglite', join(TEXTS, 'postgresql.txt')],
]);

/** Names of files that hold licences, and the notices that Apache-2.0 (4d) asks to pass on. */
const HOLDS_LICENSE = /^(?:licen[cs]e|copying|copyright|notice|unlicense)(?:[-.][\w.-]+)?$/i;

/** Reads the licence of the package in a folder; a sentence where it has none that may be shipped. */
export function licenseOf(folder: string): Licensed | string {
  const { name, version, license: named } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const license = CHOSEN.get(name) ?? named;
  if (typeof license !== 'string' || !ALLOWED.has(license))
    return `${name} ${version} has the licence ${JSON.stringify(license) ?? 'none'}, which is not in ALLOWED.`;
  const texts = readdirSync(folder)
    .filter((file) => HOLDS_LICENSE.test(file) && !/\.(?:[cm]?[jt]s|json)$/.test(file))
    .sort()
    .map((file) => join(folder, file))
    .concat(CARRIED.get(name) ?? [])
    .map(read)
    .filter((text) => text !== '');
  if (texts.length > 0) return { name, version, license, text: texts.join('\n\n') };
  const author = WITHOUT_TEXT.get(name);
  const common = COMMON.get(license);
  return author === undefined || common === undefined
    ? `${name} ${version} carries no text of its licence (${license}): name its author in WITHOUT_TEXT.`
    : { name, version, license, text: `${author}\n\n${read(common)}` };
}

const read = (path: string): string =>
  readFileSync(path, 'utf8')
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t]+$/gm, '')
    .replace(/^\n+/, '')
    .trimEnd();
