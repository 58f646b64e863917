import { and, eq, exists, inArray, lt, notExists, notInArray, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { untilDone } from '../../../engine/duties/batches.ts';
import type { Duty } from '../../../engine/duties/duty.ts';
import { beginRemoval, type RetentionDeps } from '../../../engine/duties/retention.ts';
import type { Database, Orm } from '../../../platform/db/database.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import {
  contactImportChunks,
  contactImportSeen,
  contactImports,
} from '../../../platform/db/schema/imports.ts';

/** Imports that one statement removes: each may have a row of mistakes for every commit. */
const BATCH = 20;

/** The age of a file whose request died before its import began. Storing a file takes minutes at most. */
const ABANDONED_MS = 3_600_000;

const ENDED = ['completed', 'failed', 'cancelled'] as const;

/** By the creation of an import; one that is still under way stays. */
const BURY = `with old as materialized (
  select id from contact_imports where livemode = $1::boolean and id < $2
    and state in (${ENDED.map((state) => `'${state}'`).join(', ')}) order by id limit ${BATCH}
), journal as (
  delete from contact_import_journal j using old o where j.actor_id = o.id
), counts as (
  delete from contact_import_counts t using old o where t.import_id = o.id
), faults as (
  delete from contact_import_faults f using old o where f.import_id = o.id
)
delete from contact_imports i using old o where i.id = o.id returning 1 as one`;

/** Removes the stored data of imports that never began, or have ended. */
async function forget(database: Database, abandoned: string): Promise<void> {
  const importOf = (id: AnyPgColumn, state: SQL) => (orm: Orm) =>
    orm
      .select({ id: contactImports.id })
      .from(contactImports)
      .where(and(eq(contactImports.id, id), state));
  const [openOf, endedOf] = [
    importOf(contactImportChunks.importId, notInArray(contactImports.state, [...ENDED])),
    importOf(contactImportSeen.importId, inArray(contactImports.state, [...ENDED])),
  ];
  await database.read((orm) =>
    orm
      .delete(contactImportChunks)
      .where(and(lt(contactImportChunks.importId, abandoned), notExists(openOf(orm)))),
  );
  await database.read((orm) => orm.delete(contactImportSeen).where(exists(endedOf(orm))));
}

/** Removes old imports, and what was left of files. */
export const importPruner = (deps: RetentionDeps): Duty => ({
  name: 'importPruner',
  pattern: '40 */10 * * * *',
  goesByAge: true,
  async run(stop) {
    const { database, clock } = deps;
    for (const livemode of [false, true]) {
      const before = lowestIdAt('imp', await beginRemoval(deps, livemode));
      await untilDone(database, BURY, [livemode, before], BATCH, stop);
    }
    await forget(database, lowestIdAt('imp', clock.now() - ABANDONED_MS));
  },
});
