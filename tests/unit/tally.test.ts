import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFailures, readTally } from '../support/tally.ts';

describe('the tally of a test run', () => {
  test('counts what a real report of bun test says', () => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-tally-'));
    try {
      writeFileSync(
        join(folder, 'sample.test.ts'),
        `import { expect, test } from 'bun:test';
         test('good', () => { expect(1).toBe(1); });
         test('also good', () => { expect(2).toBe(2); });
         test('bad & "quoted"', () => { expect('<1>').toBe('<2>'); });
         test.skip('left out', () => {});`,
      );
      const report = join(folder, 'report.xml');
      spawnSync(process.execPath, ['test', '--reporter=junit', `--reporter-outfile=${report}`], {
        cwd: folder,
      });
      expect(readTally(report)).toEqual({ passed: 2, failed: 1, skipped: 1 });
      const [failure = '', ...others] = readFailures(report);
      expect(others).toEqual([]);
      expect(failure).toStartWith('sample.test.ts > bad & "quoted"\n');
      expect(failure).toContain('Expected: "<2>"\n  Received: "<1>"');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('is all zero when there is no report', () => {
    expect(readTally('/nonexistent/report.xml')).toEqual({ passed: 0, failed: 0, skipped: 0 });
    expect(readFailures('/nonexistent/report.xml')).toEqual([]);
  });
});
