import type { Licensed } from './license-of.ts';

const RULE = '='.repeat(80);

const HEAD = `The executable of Posthorn contains the software below, each under the licence that follows its name. Posthorn itself is
under the Apache License 2.0 (LICENSE). Made by \`bun run generate\` of what the bundler reads.`;

/** Writes the licences down, a text once for all packages that have the same. */
export function noticeOf(licensed: readonly Licensed[]): string {
  const byText = Map.groupBy(licensed, ({ text }) => text);
  const parts = [...byText].map(([text, packages]) => {
    const names = packages.map(({ name, version, license }) => `${name} ${version} (${license})`);
    return [RULE, ...[...new Set(names)].sort(), '', text].join('\n');
  });
  return `${[HEAD, ...parts].join('\n\n')}\n`;
}
