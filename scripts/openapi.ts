import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentedRoutes, MODULE_TAGS } from '../src/modules.ts';
import { LONGEST_RETENTION } from '../src/platform/config/settings/settings.ts';
import { openApiOf } from '../src/web/docs/openapi/openapi.ts';
import { keepFresh } from './fresh.ts';
import { clientTypesOf } from './openapi/client-types.ts';

// Writes the types of the client, and with `--check` has the public linter read the document that they are
// made from. The document itself is not kept: a service serves its own at /openapi.json.

const document = openApiOf(documentedRoutes(), MODULE_TAGS, {
  baseUrl: 'http://localhost:3000',
  ...LONGEST_RETENTION,
});

keepFresh('src/web/client/operations.ts', clientTypesOf(document));

if (process.argv.includes('--check')) {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-openapi-'));
  const path = join(folder, 'openapi.json');
  writeFileSync(path, JSON.stringify(document, null, 2));
  const { status } = spawnSync('redocly', ['lint', path], { stdio: 'inherit' });
  rmSync(folder, { recursive: true });
  if (status !== 0) process.exitCode = 1;
}
