import type { Database } from '../../db/database.ts';
import { codeOf } from '../../db/sqlstate.ts';
import type { Duty } from '../../duties/duty.ts';
import type { Kind } from '../../engine/kind.ts';
import { type OwnedTable, surveyTables } from './owned-tables.ts';

/** A large table takes its time; nobody waits for it. */
const DEADLINE_MS = 30 * 60_000;

/** A row is still pointed to by one of another table. */
const FOREIGN_KEY_VIOLATION = '23503';

/** Accounts that belong to no workspace go with the last one, and with them what they sign in with. */
const PEOPLE = [
  `delete from browser_sessions s where s.kind = 'account'
     and not exists (select from members m where m.account_id = s.subject_id)`,
  'delete from passkeys p where not exists (select from members m where m.account_id = p.account_id)',
  'delete from recovery_codes r where not exists (select from members m where m.account_id = r.account_id)',
  'delete from accounts a where not exists (select from members m where m.account_id = a.id)',
];

/**
 * Removes a workspace and every row that belongs to it: first the rows that belong to others of its rows, then those that name
 * it. It may be repeated after a crash, since the workspace itself goes last. @throws Unavailable
 */
export async function eraseWorkspace(
  database: Database,
  journals: ReadonlyMap<string, string>,
  workspaceId: string,
): Promise<void> {
  const { owned } = await surveyTables(database, journals);
  const remove = ({ table, condition }: OwnedTable) =>
    database.query(`delete from ${table} where ${condition}`, [workspaceId], { deadlineMs: DEADLINE_MS });
  const isNamed = ({ condition }: OwnedTable) => condition.startsWith('workspace_id');
  await forget(database, journals, workspaceId);
  for (const table of owned.filter((each) => !isNamed(each))) await remove(table);
  let left = owned.filter(isNamed);
  while (left.length > 0) {
    const held: OwnedTable[] = [];
    for (const table of left)
      await remove(table).catch((error: unknown) => {
        if (codeOf(error) !== FOREIGN_KEY_VIOLATION) throw error;
        held.push(table);
      });
    if (held.length === left.length)
      throw new Error(`Tables point at one another: ${held.map(({ table }) => table).join(', ')}.`);
    left = held;
  }
  for (const statement of PEOPLE) await database.query(statement);
  await database.query('delete from workspaces where id = $1', [workspaceId]);
}

/** Events on their way to its actors, and links that were made for it. */
async function forget(
  database: Database,
  journals: ReadonlyMap<string, string>,
  workspaceId: string,
): Promise<void> {
  await database.query(`delete from one_time_tokens where subject::text like '%' || $1 || '%'`, [
    workspaceId,
  ]);
  for (const actors of new Set(journals.values()))
    await database.query(
      `delete from actor_outbox o using ${actors} a where o.to_id = a.id and a.workspace_id = $1`,
      [workspaceId],
    );
}

/** The table of the actors of each journal. */
export const journalsOf = (
  kinds: readonly { readonly kind: Pick<Kind, 'journal' | 'table'> }[],
): ReadonlyMap<string, string> => new Map(kinds.map(({ kind }) => [kind.journal, kind.table]));

/** Removes the rows of deleted workspaces, once nothing is paid for them any more. */
export const workspaceEraser = (
  database: Database,
  journals: ReadonlyMap<string, string>,
  endSubscriptions: (workspaceId: string) => Promise<void>,
): Duty => ({
  name: 'workspaceEraser',
  pattern: '20 * * * * *',
  async run(stop) {
    const rows = await database.query<{ id: string }>(
      'select id from workspaces where erase_at is not null order by erase_at',
    );
    for (const { id } of rows) {
      if (stop?.aborted) return;
      await endSubscriptions(id);
      await eraseWorkspace(database, journals, id);
    }
  },
});
