import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Writes a generated file; with `--check` it only compares, and the exit code tells whether the file is stale.
 * The one behaviour of every generator, so that the gate can hold them all fresh.
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
