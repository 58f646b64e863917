import pino from 'pino';
import { issueKey } from '../../../accounts/api-keys/issue.ts';
import { apiKeys } from '../../../accounts/api-keys/kind.ts';
import { ensureFirstWorkspace } from '../../../accounts/workspace/commands.ts';
import { type ListedWorkspace, listWorkspaces } from '../../../accounts/workspace/queries.ts';
import { Engine } from '../../../engine/engine.ts';
import type { Permission } from '../../../http/auth/permissions.ts';
import type { Config } from '../../../platform/config/config.ts';
import { openShards } from '../../../platform/db/distribution/shards.ts';
import { migrate } from '../../../platform/db/migrate.ts';
import { openClock } from '../../../platform/time/database-clock.ts';
import { withDatabase } from '../database/with-database.ts';
import type { Terminal } from '../terminal.ts';

/** The options of `posthorn keys create`. */
export interface KeyRequest {
  readonly env: 'live' | 'test';
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** The id of its workspace; without it the only one that is in use. */
  readonly workspace?: string;
}

/**
 * `posthorn keys create` helps an operator who has lost every key, or has made a workspace. It prints only
 * the new key, for pipes.
 */
export function createKey(config: Config, request: KeyRequest, terminal: Terminal): Promise<number> {
  return withDatabase(config, async (database) => {
    await migrate(database);
    const logger = pino({ enabled: false });
    const clock = await openClock(database, logger);
    try {
      const now = clock.now();
      await ensureFirstWorkspace(database, config.defaultPlan, now);
      const chosen = chosenOf(await listWorkspaces(database, null), request.workspace);
      if ('problem' in chosen) {
        terminal.error(`${chosen.problem}\n`);
        return 1;
      }
      const shards = await openShards(database, clock.monotonic);
      const engine = new Engine({ database, shards, clock, logger, kinds: [apiKeys] });
      const { env, name, permissions } = request;
      const wanted = { workspaceId: chosen.id, livemode: env === 'live', name, permissions };
      const key = await issueKey(engine, wanted, now);
      await engine.stop();
      terminal.out(`${key}\n`);
      return 0;
    } finally {
      clock.close();
    }
  });
}

/** The chosen workspace. A key of an archived one would open nothing, so none is made there. */
function chosenOf(
  workspaces: readonly ListedWorkspace[],
  wanted: string | undefined,
): Pick<ListedWorkspace, 'id'> | { readonly problem: string } {
  if (wanted !== undefined) {
    const found = workspaces.find(({ id }) => id === wanted);
    if (!found)
      return { problem: `There is no workspace ${wanted}: \`posthorn workspaces list\` shows them.` };
    return found.archived ? { problem: archived(wanted) } : found;
  }
  const inUse = workspaces.filter((each) => !each.archived);
  const [only] = inUse;
  if (!only) return { problem: archived(workspaces[0]?.id ?? '') };
  if (inUse.length === 1) return only;
  const names = inUse.slice(0, MOST_NAMED).map(({ id, name }) => `  ${id}  ${name}`);
  const more = inUse.length > MOST_NAMED ? ['  … (`posthorn workspaces list` shows all)'] : [];
  return {
    problem: [
      `There are ${inUse.length} workspaces: choose one with --workspace <id>.`,
      ...names,
      ...more,
    ].join('\n'),
  };
}

/** Workspaces that an error names. */
const MOST_NAMED = 10;

const archived = (id: string): string =>
  `The workspace ${id} is archived: \`posthorn workspaces archive --undo ${id}\` restores it.`;
