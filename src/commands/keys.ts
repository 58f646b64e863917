import pino from 'pino';
import type { Permission } from '../auth/permissions.ts';
import type { Config } from '../config/config.ts';
import { openShards } from '../db/distribution/shards.ts';
import { migrate } from '../db/migrate.ts';
import { Engine } from '../engine/engine.ts';
import { issueKey } from '../modules/api-keys/issue.ts';
import { apiKeys } from '../modules/api-keys/kind.ts';
import { ensureFirstWorkspace } from '../modules/workspace/commands.ts';
import { openClock } from '../time/database-clock.ts';
import type { Terminal } from './terminal.ts';
import { withDatabase } from './with-database.ts';

/** The options of `posthorn keys create`. */
export interface KeyRequest {
  readonly env: 'live' | 'test';
  readonly name: string;
  readonly permissions: readonly Permission[];
}

/** `posthorn keys create` helps an operator who has lost every key. It prints the new key and nothing else, for pipes. */
export function createKey(config: Config, request: KeyRequest, terminal: Terminal): Promise<number> {
  return withDatabase(config, async (database) => {
    await migrate(database);
    const logger = pino({ enabled: false });
    const clock = await openClock(database, logger);
    const now = clock.now();
    const shards = await openShards(database, clock.monotonic);
    const engine = new Engine({ database, shards, clock, logger, kinds: [apiKeys] });
    const workspace = await ensureFirstWorkspace(database, config.defaultPlan, now);
    const { env, name, permissions } = request;
    const wanted = { workspaceId: workspace.id, livemode: env === 'live', name, permissions };
    const key = await issueKey(engine, wanted, now);
    await engine.stop();
    clock.close();
    terminal.out(`${key}\n`);
    return 0;
  });
}
