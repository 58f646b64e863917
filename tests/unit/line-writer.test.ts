import { expect, test } from 'bun:test';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lineWriter } from '../../src/platform/telemetry/line-writer.ts';

test('lines are written whole and in their order', () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-lines-'));
  const path = join(folder, 'log');
  const fd = openSync(path, 'w');
  try {
    const log = lineWriter(fd);
    const lines = ['one\n', `${'ü'.repeat(200_000)}\n`, 'three\n'];
    for (const line of lines) log.write(line);
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

test.skipIf(process.platform !== 'linux')('a line that finds no room is lost, and fails nothing', () => {
  const fd = openSync('/dev/full', 'w');
  try {
    expect(() => lineWriter(fd).write('one\n')).not.toThrow();
  } finally {
    closeSync(fd);
  }
});
