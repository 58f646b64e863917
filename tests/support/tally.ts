import { existsSync, readFileSync } from 'node:fs';

/** The numbers of tests by result. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const read = (reportPath: string): string => (existsSync(reportPath) ? readFileSync(reportPath, 'utf8') : '');

/** Reads the totals of a JUnit report; all zero when the run died before it could write one. */
export function readTally(reportPath: string): Tally {
  const report = read(reportPath);
  const root = /<testsuites [^>]*>/.exec(report)?.[0] ?? '';
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const failed = count('failures') + count('errors');
  const skipped = count('skipped');
  return { passed: count('tests') - failed - skipped, failed, skipped };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const plain = (xml: string): string =>
  xml.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name = '') =>
    code ? String.fromCodePoint(Number(code)) : (ENTITIES[name] ?? whole),
  );
const LINES_OF_A_FAILURE = 40;

/** Each failure of a JUnit report with its file, its name and what it said. */
export function readFailures(reportPath: string): readonly string[] {
  const cases = read(reportPath).matchAll(
    /<testcase name="([^"]*)"[^>]*? file="([^"]*)"[^>]*>\s*<failure[^>]*>([^<]*)<\/failure>/g,
  );
  return Array.from(cases, ([, name = '', file = '', said = '']) => {
    const lines = plain(said).trimEnd().split('\n').slice(0, LINES_OF_A_FAILURE);
    return `${file} > ${plain(name)}\n${lines.map((line) => `  ${line}`).join('\n')}`;
  });
}
