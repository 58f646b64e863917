import { existsSync, readFileSync } from 'node:fs';

/** How many tests came to which end. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Reads the totals of a JUnit report; all zero when the run died before it could write one. */
export function readTally(reportPath: string): Tally {
  const report = existsSync(reportPath) ? readFileSync(reportPath, 'utf8') : '';
  const root = /<testsuites [^>]*>/.exec(report)?.[0] ?? '';
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const failed = count('failures') + count('errors');
  const skipped = count('skipped');
  return { passed: count('tests') - failed - skipped, failed, skipped };
}
