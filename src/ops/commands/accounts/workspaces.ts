import { open } from 'node:fs/promises';
import { recordOperator } from '../../../accounts/audit-log/commands.ts';
import { endSubscriptions } from '../../../accounts/billing/commands.ts';
import { stripeOf } from '../../../accounts/billing/stripe-client.ts';
import { accountByEmail } from '../../../accounts/members/accounts.ts';
import {
  archiveWorkspace,
  createWorkspace,
  deleteWorkspace,
  renameWorkspace,
} from '../../../accounts/workspace/commands.ts';
import { eraseWorkspace, journalsOf, tellProgress } from '../../../accounts/workspace/erase.ts';
import { exportWorkspace } from '../../../accounts/workspace/export.ts';
import { listDeletedWorkspaces, listWorkspaces } from '../../../accounts/workspace/queries.ts';
import { MODULE_KINDS } from '../../../modules.ts';
import type { Config } from '../../../platform/config/config.ts';
import type { Database } from '../../../platform/db/database.ts';
import { withClockedDatabase } from '../database/with-database.ts';
import type { Terminal } from '../terminal.ts';

// `posthorn workspaces …`: what an operator does with the workspaces of an installation.

const journals = journalsOf(MODULE_KINDS);

const absent = (terminal: Terminal, id: string): number => {
  terminal.error(`There is no workspace ${id}.\n`);
  return 1;
};

/** Lists the workspaces, one a line: id, plan, state and name. */
export const showWorkspaces = (config: Config, terminal: Terminal): Promise<number> =>
  withClockedDatabase(config, async (database) => {
    for (const { id, plan, archived, name } of await listWorkspaces(database, null))
      terminal.out(`${id}  ${plan.padEnd(9)}  ${archived ? 'archived' : 'active  '}  ${name}\n`);
    for (const { id, plan, name } of await listDeletedWorkspaces(database))
      terminal.out(`${id}  ${plan.padEnd(9)}  deleted   ${name} (its rows are being removed)\n`);
    return 0;
  });

/** Makes a workspace and prints its id and nothing else, for pipes. */
export const addWorkspace = (
  config: Config,
  name: string,
  owner: string | null,
  terminal: Terminal,
): Promise<number> =>
  withClockedDatabase(config, async (database, now) => {
    const account = owner === null ? null : await accountByEmail(database, owner.toLowerCase());
    if (owner !== null && account === null) {
      terminal.error('There is no account with the address of the owner.\n');
      return 1;
    }
    const wanted = { name, plan: config.defaultPlan, owner: account?.id ?? null };
    const id = await createWorkspace(database, wanted, now());
    await note(database, id, 'workspace.created', { name }, now());
    terminal.out(`${id}\n`);
    return 0;
  });

/** Renames a workspace, archives it, or restores it. */
export const changeWorkspace = (
  config: Config,
  id: string,
  change: { readonly name: string } | { readonly archived: boolean },
  terminal: Terminal,
): Promise<number> =>
  withClockedDatabase(config, async (database, now) => {
    const isDone =
      'name' in change
        ? await renameWorkspace(database, id, change.name)
        : await archiveWorkspace(database, id, change.archived ? now() : null);
    if (!isDone) return absent(terminal, id);
    await note(database, id, 'workspace.changed', change, now());
    terminal.out(`${id} was changed.\n`);
    return 0;
  });

/** Writes all rows of a workspace into a new file that only its owner may read. */
export const saveWorkspace = (
  config: Config,
  id: string,
  path: string,
  terminal: Terminal,
): Promise<number> =>
  withClockedDatabase(config, async (database, now) => {
    const known = await listWorkspaces(database, null);
    if (!known.some((each) => each.id === id)) return absent(terminal, id);
    const file = await open(path, 'wx', 0o600);
    let rows = 0;
    try {
      for await (const line of exportWorkspace(database, journals, id)) {
        await file.write(line);
        rows++;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await note(database, id, 'workspace.exported', { rows }, now());
    terminal.out(`${rows} rows are in ${path}.\n`);
    return 0;
  });

const NOT_DELETED = {
  absent: 'There is no such workspace.',
  first: 'The first workspace of an installation cannot be deleted; archive it instead.',
  inUse: 'Only an archived workspace can be deleted: posthorn workspaces archive comes first.',
} as const;

/** Deletes an archived workspace and removes its rows now; continues an interrupted run. */
export const removeWorkspace = (config: Config, id: string, terminal: Terminal): Promise<number> =>
  withClockedDatabase(config, async (database, now) => {
    const reason = await deleteWorkspace(database, id, now());
    if (reason !== null && reason !== 'deleted') {
      terminal.error(`${NOT_DELETED[reason]}\n`);
      return 1;
    }
    const log = { error: (_: object, what: string) => terminal.error(`${what}\n`), warn() {} };
    await endSubscriptions({ database, stripe: stripeOf(config), log }, id);
    const { onRemoved } = tellProgress((sentence) => terminal.error(`${sentence}\n`));
    await eraseWorkspace(database, journals, id, { onRemoved });
    terminal.out(`${id} was deleted.\n`);
    return 0;
  });

const note = (
  database: Database,
  workspaceId: string,
  action: string,
  details: Record<string, unknown>,
  now: number,
): Promise<void> => recordOperator(database, workspaceId, { action, targetId: workspaceId, details, now });
