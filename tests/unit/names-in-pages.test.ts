import { expect, test } from 'bun:test';
import { nameProblems, wordsOf } from '../../scripts/links/names.ts';

const KNOWN = wordsOf([
  'export function acceptEmail(deps: AcceptDeps) {}',
  "const METRIC = 'posthorn_relay_state';",
]);
const problems = (text: string) => nameProblems([{ path: 'README.md', text }], KNOWN);

test.each([
  ['a name that is there', '`acceptEmail(deps)` takes `AcceptDeps`'],
  ['a metric with its labels', '`posthorn_relay_state{relay="host:port"}`'],
  ['a word of prose in code', '`draft` or `posthorn serve --helpMe`'],
  ['a path, an option, a host', '`src/gone/oldName.ts`, `--noSuchFlag`, `a.goneName.example`'],
  ['a name of the database or of a library', '`pg_stat_statements`, `MAIL_ENCRYPTION`'],
  ['an example', '```ts\nconst somethingElse = 1;\n```'],
  ['no code', 'The JavaScript of GitHub'],
])('%s is accepted', (_what, text) => {
  expect(problems(text)).toEqual([]);
});

test.each([
  ['`acceptMany`', 'acceptMany'],
  ['| `acceptEmail` and `acceptMany` | x |', 'acceptMany'],
  ['`acceptMany({ to })`', 'acceptMany'],
  ['`GoneClass`', 'GoneClass'],
  ['`posthorn_gone_total{by}`', 'posthorn_gone_total'],
])('%s names what has gone', (text, name) => {
  expect(problems(`# Title\n\n${text}`)).toEqual([`README.md:3: no source contains the name ${name}.`]);
});
