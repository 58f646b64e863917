import { and, desc, lt, sql } from 'drizzle-orm';
import { type CellValue, CSV_MARK, csvRow } from '../../csv/write.ts';
import { PREPARED } from '../../db/database.ts';
import type { Reads } from '../../db/reads.ts';
import { contacts } from '../../db/schema/audience.ts';
import { csvDownload } from '../../http/csv-download.ts';
import type { Call, RawResponse } from '../../http/route.ts';
import { ownContacts, type Scope } from './contact-rows.ts';
import type { PropertyValue } from './properties.ts';

/** Contacts that one statement reads. The next ones are read when the client has taken these. */
const BATCH = 1_000;
/** Properties that get a column of their own; those of other names share the last one, as JSON. */
const MOST_COLUMNS = 1_000;

const FIRST_COLUMNS = ['id', 'email', 'first_name', 'last_name', 'status', 'created_at', 'unsubscribed_at'];

type Row = Pick<
  typeof contacts.$inferSelect,
  'id' | 'email' | 'firstName' | 'lastName' | 'properties' | 'status' | 'createdAt' | 'unsubscribedAt'
>;

/** Streams all contacts of the caller's environment, newest first: no more than one batch is held at a time. */
export const exportContacts = ({ reads }: { readonly reads: Reads }, { caller }: Call): RawResponse =>
  csvDownload('contacts.csv', csvOf(reads, caller));

async function* csvOf(reads: Reads, scope: Scope): AsyncGenerator<string, undefined> {
  // Something is sent at once, since all contacts are looked through for the names of their properties first.
  yield CSV_MARK;
  const keys = await propertyKeys(reads, scope);
  const columns = [...FIRST_COLUMNS, ...keys.map((key) => `properties.${key}`), 'properties'];
  yield csvRow(columns);
  for await (const rows of batches(reads, scope))
    yield rows.map((row) => csvRow(cellsOf(row, keys))).join('');
}

async function propertyKeys(reads: Reads, scope: Scope): Promise<readonly string[]> {
  const keys = new Set<string>();
  for await (const rows of batches(reads, scope))
    for (const { properties } of rows)
      for (const key of Object.keys(properties as object)) if (keys.size < MOST_COLUMNS) keys.add(key);
  return [...keys].sort();
}

async function* batches(reads: Reads, scope: Scope): AsyncGenerator<readonly Row[]> {
  let below: string | null = null;
  for (;;) {
    const bound: string | null = below;
    const rows: readonly Row[] = await reads.read(
      (orm) =>
        orm
          .select({
            id: contacts.id,
            email: contacts.email,
            firstName: contacts.firstName,
            lastName: contacts.lastName,
            properties: contacts.properties,
            status: contacts.status,
            createdAt: contacts.createdAt,
            unsubscribedAt: contacts.unsubscribedAt,
          })
          .from(contacts)
          .where(and(ownContacts(scope), bound === null ? sql`true` : lt(contacts.id, bound)))
          .orderBy(desc(contacts.id))
          .limit(BATCH),
      PREPARED,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) return;
    below = rows.at(-1)?.id ?? null;
  }
}

function cellsOf(row: Row, keys: readonly string[]): readonly CellValue[] {
  const properties = row.properties as Readonly<Record<string, PropertyValue>>;
  const own = (key: string) => (Object.hasOwn(properties, key) ? (properties[key] ?? null) : null);
  const rest =
    keys.length < MOST_COLUMNS ? [] : Object.entries(properties).filter(([key]) => !keys.includes(key));
  return [
    ...[row.id, row.email, row.firstName, row.lastName, row.status],
    ...[row.createdAt.toISOString(), row.unsubscribedAt?.toISOString() ?? null],
    ...keys.map(own),
    rest.length === 0 ? null : JSON.stringify(Object.fromEntries(rest)),
  ];
}
