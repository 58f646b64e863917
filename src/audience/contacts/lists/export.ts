import { and, count, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm';
import { csvDownload } from '../../../http/lists/csv-download.ts';
import { pagesOf } from '../../../http/lists/list-csv.ts';
import type { Call, RawResponse } from '../../../http/request/route.ts';
import { LONGEST_CELL, MOST_LINES_OF_CELL } from '../../../platform/csv/reader.ts';
import { type CellValue, CSV_MARK, csvRow } from '../../../platform/csv/write.ts';
import { PREPARED } from '../../../platform/db/database.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import { audiences } from '../../../platform/db/schema/audiences.ts';
import { contacts } from '../../../platform/db/schema/contacts.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { CONTACT_FIELD_NAMES, type ContactTexts, eachField } from '../../../platform/text/contact-fields.ts';
import { leftAudiencesSql } from '../../../sending/suppressions/queries.ts';
import { FIELD_COLUMNS } from '../field-columns.ts';
import type { ContactQuery } from '../model.ts';
import type { PropertyValue, PropertyValues } from '../properties.ts';
import { ownContacts, type Scope } from './contact-rows.ts';
import { type ContactLister, listContacts } from './list.ts';

/** Contacts that one statement reads. The next ones are read when the client has taken these. */
const BATCH = 1_000;
/** The most properties with a separate column; others share the last one, as JSON. */
const MOST_COLUMNS = 1_000;
/**
 * Characters of that JSON in one row: its quotes are written twice. A contact with more of it has several
 * rows.
 */
const LONGEST_REST = LONGEST_CELL / 4;

const FIRST_COLUMNS = [
  'id',
  'email',
  ...FIELD_COLUMNS,
  'status',
  'created_at',
  'unsubscribed_at',
  'consent_source',
  'consent_at',
  'audiences',
  'left_audiences',
];

/** A contact as the export reads it. */
export interface ExportRow extends ContactTexts {
  readonly id: string;
  readonly email: string;
  readonly properties: PropertyValues;
  readonly status: string;
  readonly createdAt: Date;
  readonly unsubscribedAt: Date | null;
  /** The latest consent that its activity tells of. */
  readonly consent: { readonly source: string | null; readonly at: string | null } | null;
  /** The ids of the static audiences that it is in. */
  readonly audienceIds: readonly string[];
  /** The moments at which the person left audiences by themselves, by their ids. */
  readonly leftAudiences: Readonly<Record<string, string>> | null;
}

/** Some contacts at a time, from the first on. */
type Batches = () => AsyncGenerator<readonly ExportRow[]>;

/**
 * Streams the contacts of the caller's environment, all or those that the filters of the list leave, newest
 * first: no more than one batch is held at a time.
 */
export async function exportContacts(
  deps: ContactLister & { readonly reads: Reads },
  call: Call<unknown, Omit<ContactQuery, 'after' | 'limit'>>,
): Promise<RawResponse | Failure> {
  const { reads } = deps;
  const { caller, query } = call;
  const download = (batches: Batches) => csvDownload('contacts.csv', csvOf(reads, caller, batches));
  if (Object.keys(query).length === 0) return download(() => batchesOfAll(reads, caller));
  const list = { handle: (page: unknown) => listContacts(deps, page as Call<unknown, ContactQuery>) };
  const { value: first } = await pagesOf(list, call).next();
  return first instanceof Failure ? first : download(() => batchesOf(reads, caller, pagesOf(list, call)));
}

async function* csvOf(reads: Reads, scope: Scope, batches: Batches): AsyncGenerator<string, undefined> {
  // Something is sent at once, since all contacts are looked through for the names of their properties first.
  yield CSV_MARK;
  const columns = new ExportColumns();
  for await (const rows of batches()) for (const row of rows) columns.meet(row.properties);
  const names = await audienceNames(reads, scope);
  yield csvRow(columns.header);
  for await (const rows of batches()) yield rows.map((row) => columns.text(row, names)).join('');
}

/**
 * The columns of the properties. Each states the type of its values, so that they come back as they were; a
 * property that has several types among the contacts has a column for each.
 */
export class ExportColumns {
  readonly #met = new Set<string>();
  #columns: readonly string[] | null = null;

  /** Notes what properties there are. */
  meet(properties: PropertyValues): void {
    for (const [key, value] of Object.entries(properties)) {
      const column = columnOf(key, value);
      if (column !== null && this.#met.size < MOST_COLUMNS) this.#met.add(column);
    }
  }

  get #all(): readonly string[] {
    this.#columns ??= [...this.#met].sort();
    return this.#columns;
  }

  get header(): readonly string[] {
    return [...FIRST_COLUMNS, ...this.#all, 'properties'];
  }

  /** The rows of a contact: one, unless the properties that have no column are too long for a cell. */
  text(row: ExportRow, audiences: ReadonlyMap<string, string>): string {
    const cells = new Map<string, PropertyValue>();
    const rest: [string, PropertyValue][] = [];
    for (const [key, value] of Object.entries(row.properties)) {
      const column = columnOf(key, value);
      if (column !== null && this.#met.has(column)) cells.set(column, value);
      else rest.push([key, value]);
    }
    const own = this.#all.map((column): CellValue => cells.get(column) ?? null);
    const [first = null, ...others] = restTexts(rest);
    const more = others.map((json) => {
      const told = new Map(Object.entries({ email: row.email, status: row.status, properties: json }));
      return this.header.map((column): CellValue => told.get(column) ?? null);
    });
    return [[...firstCells(row, audiences), ...own, first], ...more].map(csvRow).join('');
  }
}

/**
 * The column of a value; null for a text that a cell cannot hold: an empty one says nothing, and one of many
 * lines is taken for a mistake.
 */
function columnOf(key: string, value: PropertyValue): string | null {
  if (value === '') return null;
  const lines = typeof value === 'string' ? (value.match(/\r\n|\r|\n/g)?.length ?? 0) : 0;
  return lines + 1 >= MOST_LINES_OF_CELL ? null : `properties.${key}:${typeof value}`;
}

/** Properties without a column as JSON, in texts that fit into a cell. */
function restTexts(entries: readonly (readonly [string, PropertyValue])[]): readonly string[] {
  const texts: string[] = [];
  let open: (readonly [string, PropertyValue])[] = [];
  let length = 0;
  for (const entry of entries) {
    const own = JSON.stringify(entry).length;
    if (length + own > LONGEST_REST && open.length > 0) {
      texts.push(JSON.stringify(Object.fromEntries(open)));
      [open, length] = [[], 0];
    }
    open.push(entry);
    length += own;
  }
  return open.length === 0 ? texts : [...texts, JSON.stringify(Object.fromEntries(open))];
}

function firstCells(row: ExportRow, audiences: ReadonlyMap<string, string>): readonly CellValue[] {
  const nameOf = (id: string): string => audiences.get(id) ?? id;
  const names = row.audienceIds.map(nameOf);
  const left = Object.entries(row.leftAudiences ?? {}).map(([id, at]) => [
    nameOf(id),
    new Date(at).toISOString(),
  ]);
  return [
    row.id,
    row.email,
    ...CONTACT_FIELD_NAMES.map((name) => row[name]),
    row.status,
    row.createdAt.toISOString(),
    row.unsubscribedAt?.toISOString() ?? null,
    row.consent?.source ?? null,
    row.consent?.at ?? null,
    names.length === 0 ? null : JSON.stringify(names),
    left.length === 0 ? null : JSON.stringify(Object.fromEntries(left)),
  ];
}

/** The names of audiences by their ids, if the name is unique: an id means nothing in another workspace. */
async function audienceNames(
  reads: Reads,
  { workspaceId, livemode }: Scope,
): Promise<ReadonlyMap<string, string>> {
  const rows = await reads.read((orm) =>
    orm
      .select({ id: sql<string>`min(${audiences.id})`, name: audiences.name })
      .from(audiences)
      .where(
        and(
          eq(audiences.workspaceId, workspaceId),
          eq(audiences.livemode, livemode),
          eq(audiences.type, 'static'),
        ),
      )
      .groupBy(audiences.name)
      .having(eq(count(), 1)),
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * Drizzle leaves the table out of a column that a selected expression names, which then means one of the
 * subquery.
 */
const CONTACT = sql.raw('contacts.id');

const CONSENT = sql<
  ExportRow['consent']
>`(select case when a.type = 'imported' then a.data -> 'consent' else a.data end
  from contact_activity a where a.contact_id = ${CONTACT}
    and (a.type = 'subscribed' and a.data is not null or a.type = 'imported' and a.data -> 'consent' is not null)
  order by a.id desc limit 1)`;

const AUDIENCE_IDS = sql<readonly string[]>`array(select m.audience_id from audience_members m
  where m.contact_id = ${CONTACT} and m.state = 'joined' order by 1)`;

const LEFT_AUDIENCES = sql<ExportRow['leftAudiences']>`${sql.raw(leftAudiencesSql('contacts.id'))}`;

async function* batchesOfAll(reads: Reads, scope: Scope): AsyncGenerator<readonly ExportRow[]> {
  let below: string | null = null;
  for (;;) {
    const bound: string | null = below;
    const rows = await readRows(reads, scope, bound === null ? sql`true` : lt(contacts.id, bound));
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) return;
    below = rows.at(-1)?.id ?? null;
  }
}

/** The contacts of the pages of a list. */
async function* batchesOf(
  reads: Reads,
  scope: Scope,
  pages: AsyncGenerator<readonly object[] | Failure>,
): AsyncGenerator<readonly ExportRow[]> {
  for await (const page of pages) {
    if (page instanceof Failure)
      throw new Error(`The contacts could not be read to their end: ${page.message}`);
    const ids = (page as readonly { readonly id: string }[]).map(({ id }) => id);
    if (ids.length === 0) continue;
    const rows = new Map(
      (await readRows(reads, scope, inArray(contacts.id, ids))).map((row) => [row.id, row]),
    );
    yield ids.flatMap((id) => rows.get(id) ?? []);
  }
}

const readRows = (reads: Reads, scope: Scope, which: SQL): Promise<readonly ExportRow[]> =>
  reads.read(
    (orm) =>
      orm
        .select({
          id: contacts.id,
          email: contacts.email,
          ...eachField((name) => contacts[name]),
          properties: sql<PropertyValues>`${contacts.properties}`,
          status: contacts.status,
          createdAt: contacts.createdAt,
          unsubscribedAt: contacts.unsubscribedAt,
          consent: CONSENT,
          audienceIds: AUDIENCE_IDS,
          leftAudiences: LEFT_AUDIENCES,
        })
        .from(contacts)
        .where(and(ownContacts(scope), which))
        .orderBy(desc(contacts.id))
        .limit(BATCH),
    PREPARED,
  );
