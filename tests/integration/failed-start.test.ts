import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { loadConfig } from '../../src/platform/config/config.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { startService } from '../../src/service.ts';
import { layEmbedded } from '../support/embedded.ts';

test('a start that fails behind the database closes it again: another one finds it free', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-failed-start-'));
  try {
    const loaded = loadConfig({ DATA_DIR: dataDir, SECRET_KEY: 'only-for-tests-only-for-tests-only' });
    if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
    await layEmbedded(dataDir);
    const config = { ...loaded.config, tlsCaFile: join(dataDir, 'no-such.pem') };
    const logger = pino({ enabled: false });
    await expect(startService({ config, logger })).rejects.toThrow('ENOENT');
    const database = await openDatabase({ url: null, dataDir });
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
    await database.close();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
