import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Writes a generated file; with `--check` it only compares, and the exit code is 1 for a stale file. All
 * generators use it, so that the gate can check them alike.
 */
export function keepFresh(path: string, content: string): void {
  const current = existsSync(path) ? readFileSync(path, 'utf8') : null;
  if (current === content) return;
  if (process.argv.includes('--check')) {
    console.error(`${path} is stale.`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(path, content);
  console.log(`Wrote ${path}.`);
}
