import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, json, jsonb, pgTable } from 'drizzle-orm/pg-core';
import { actorColumns, journal, keyOf, octets, oneOf, refersTo, textC } from './columns.ts';
import { workspaces } from './workspaces.ts';

/** Actors: imports of files of contacts. */
export const contactImports = pgTable(
  'contact_imports',
  {
    ...actorColumns(['queued', 'checking', 'processing', 'completed', 'failed', 'cancelled']),
    settings: json('settings').notNull(),
    merges: boolean('merges').notNull(),
    audienceId: textC('audience_id'),
    triggerFlows: boolean('trigger_flows').notNull(),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.state),
    index('contact_imports_by_workspace').on(t.workspaceId, t.livemode, t.id.desc().nullsFirst()),
    index('contact_imports_open')
      .on(t.workspaceId, t.livemode)
      .where(sql`${t.state} in ('queued', 'checking', 'processing')`),
    index('contact_imports_by_wake_at').on(t.wakeAt).where(sql`${t.wakeAt} is not null`),
  ],
);

export const contactImportJournal = journal('contact_import_journal');

/**
 * The file, in pieces of one length, until its import has ended. Bytes that are stored for a minute are not
 * worth compressing.
 */
export const contactImportChunks = pgTable(
  'contact_import_chunks',
  {
    importId: textC('import_id').notNull(),
    n: integer('n').notNull(),
    content: octets('content').notNull(),
  },
  (t) => [keyOf(t.importId, t.n)],
);

/**
 * The counts of an import, written in the commit of the counted rows. `first_faults` are the first hundred.
 */
export const contactImportCounts = pgTable('contact_import_counts', {
  importId: textC('import_id').primaryKey(),
  total: integer('total').notNull(),
  created: integer('created').notNull(),
  updated: integer('updated').notNull(),
  skipped: integer('skipped').notNull(),
  failed: integer('failed').notNull(),
  firstFaults: jsonb('first_faults').notNull(),
  /**
   * Contacts that the file unsubscribed, contacts that stay unsubscribed, and new ones that are not
   * subscribed.
   */
  lowered: integer('lowered').notNull().default(0),
  keptOut: integer('kept_out').notNull().default(0),
  addedOut: integer('added_out').notNull().default(0),
});

/**
 * The refused lines of one commit: [line, column or null, code], by the place in the file at which the
 * commit begins.
 */
export const contactImportFaults = pgTable(
  'contact_import_faults',
  {
    importId: textC('import_id').notNull(),
    fromOffset: bigint('from_offset', { mode: 'number' }).notNull(),
    faults: json('faults').notNull(),
  },
  (t) => [keyOf(t.importId, t.fromOffset)],
);

/**
 * Keyed hashes of addresses in a dry run that are no contacts: a second line with one would update the
 * first.
 */
export const contactImportSeen = pgTable(
  'contact_import_seen',
  {
    importId: textC('import_id').notNull(),
    addressHash: textC('address_hash').notNull(),
  },
  (t) => [keyOf(t.importId, t.addressHash)],
);
