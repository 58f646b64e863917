import { isNotNull } from 'drizzle-orm';
import type { Duty } from '../../engine/duties/duty.ts';
import type { Kind } from '../../engine/machine/kind.ts';
import { storeOf } from '../../engine/store/store-of.ts';
import type { Database } from '../../platform/db/database.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { BATCH, Eraser, type ErasureOptions } from './eraser.ts';
import { surveyTables } from './owned-tables.ts';

/** Accounts without another workspace are removed with the last one, together with their sign-in methods. */
const PEOPLE = [
  `delete from editor_drafts d
     where not exists (select from members m where m.account_id = d.account_id and m.workspace_id = d.workspace_id)`,
  `delete from saved_views v
     where not exists (select from members m where m.account_id = v.account_id and m.workspace_id = v.workspace_id)`,
  `delete from browser_sessions s where s.kind = 'account'
     and not exists (select from members m where m.account_id = s.subject_id)`,
  'delete from passkeys p where not exists (select from members m where m.account_id = p.account_id)',
  'delete from recovery_codes r where not exists (select from members m where m.account_id = r.account_id)',
  'delete from accounts a where not exists (select from members m where m.account_id = a.id)',
];

/**
 * Removes a workspace and every row that belongs to it. The workspace itself goes last, so that it can be
 * repeated after a crash, and by several at once. False when it was stopped before the end. @throws
 * UnavailableError
 */
export async function eraseWorkspace(
  database: Database,
  journals: ReadonlyMap<string, string>,
  workspaceId: string,
  erasing: ErasureOptions = {},
): Promise<boolean> {
  const { owned } = await surveyTables(database, journals);
  const eraser = new Eraser(database, workspaceId, owned, erasing);
  // Requests that are still running may write while the tables are emptied, so the loop ends only after a
  // round that removed nothing.
  for (let removed = -1; removed !== 0; ) {
    removed = await forget(database, journals, workspaceId);
    removed += await eraser.pass();
    if (erasing.stop?.aborted) return false;
  }
  for (const statement of PEOPLE) await database.query(statement);
  await database.query('delete from workspaces where id = $1', [workspaceId]);
  return true;
}

/** Links of the workspace, and events on their way to its actors. */
async function forget(
  database: Database,
  journals: ReadonlyMap<string, string>,
  workspaceId: string,
): Promise<number> {
  await database.query(`delete from one_time_tokens where subject::text like '%' || $1 || '%'`, [
    workspaceId,
  ]);
  let removed = 0;
  for (const actors of new Set(journals.values())) {
    // `offset 0` makes PostgreSQL look the actor up for each event: there may be a million actors, and few
    // pending events.
    const text = `select e.id from (select id, to_id from actor_outbox offset 0) e where exists (
        select true from ${actors} a where a.id = e.to_id and a.workspace_id = $1 offset 0
      ) limit ${BATCH}`;
    for (let rows = BATCH; rows === BATCH; removed += rows) {
      const events = await database.query<{ id: string }>(text, [workspaceId]);
      rows = events.length;
      if (rows > 0)
        await database.query('delete from actor_outbox where id = any($1::text[])', [
          events.map(({ id }) => id),
        ]);
    }
  }
  return removed;
}

/** The table of the actors of each journal. */
export const journalsOf = (kinds: readonly { readonly kind: Kind }[]): ReadonlyMap<string, string> =>
  new Map(kinds.map(({ kind }) => [kind.journal, storeOf(kind).actorTable]));

/** The number of rows between two progress messages. */
const TOLD_EVERY = 100_000;

/** Reports, in a sentence, the number of removed rows: every 100,000, and at the end. */
export function tellProgress(tell: (sentence: string) => void) {
  let removed = 0;
  return {
    onRemoved(table: string, rows: number): void {
      const before = Math.floor(removed / TOLD_EVERY);
      removed += rows;
      if (Math.floor(removed / TOLD_EVERY) > before)
        tell(`${removed.toLocaleString('en')} rows removed, the last ones from ${table}.`);
    },
    end(): void {
      tell(`All rows removed: ${removed.toLocaleString('en')} in this run.`);
    },
  };
}

/** Removes the rows of deleted workspaces, once their subscriptions have ended. */
export const workspaceEraser = (
  { database, logger }: { readonly database: Database; readonly logger: Pick<Logger, 'info'> },
  journals: ReadonlyMap<string, string>,
  endSubscriptions: (workspaceId: string) => Promise<void>,
): Duty => ({
  name: 'workspaceEraser',
  pattern: '20 * * * * *',
  asks: () => 'exists (select from workspaces where erase_at is not null)',
  async run(stop) {
    const rows = await database.read((orm) =>
      orm
        .select({ id: workspaces.id })
        .from(workspaces)
        .where(isNotNull(workspaces.eraseAt))
        .orderBy(workspaces.eraseAt),
    );
    const failures: unknown[] = [];
    for (const { id } of rows) {
      if (stop?.aborted) break;
      const progress = tellProgress((sentence) => logger.info({ workspaceId: id }, sentence));
      try {
        await endSubscriptions(id);
        const { onRemoved } = progress;
        if (await eraseWorkspace(database, journals, id, { stop, onRemoved })) progress.end();
      } catch (error) {
        // A workspace that cannot be removed yet does not delay the others.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  },
});
