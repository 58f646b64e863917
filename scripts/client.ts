import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packClient } from './client/pack-client.ts';

// Builds the TypeScript client into dist/client, a package that `npm install` takes. With --check it is built
// elsewhere, and only looked at.

const isCheck = process.argv.includes('--check');
const folder = isCheck ? mkdtempSync(join(tmpdir(), 'posthorn-client-')) : 'dist/client';
try {
  const { bytes, most } = await packClient(folder);
  const size = `${(bytes / 1_000).toFixed(1)} kB of brotli, ${(most / 1_000).toFixed(0)} kB at most`;
  if (bytes > most) throw new Error(`The client has ${size}.`);
  console.log(`${isCheck ? 'The client' : 'Built dist/client:'} ${size}.`);
} finally {
  if (isCheck) rmSync(folder, { recursive: true, force: true });
}
