import type { BulkSession } from '../../platform/db/bulk-session.ts';
import type { Table } from './parts.ts';

/** A table of the schema, and where its rows lie. */
export interface SchemaTable extends Table {
  /** The tables that its rows refer to. */
  readonly needs: readonly string[];
  /** The table itself, or its partitions, each with the pages that it takes. */
  readonly leaves: readonly Leaf[];
  /** As many rows as PostgreSQL believes there are. */
  readonly estimatedRows: number;
}

interface Leaf {
  readonly name: string;
  readonly pages: number;
  /**
   * The size of one row as it is stored, as an expression; null where no value is stored apart from its row.
   */
  readonly sizeOfRow: string | null;
}

/** Columns that PostgreSQL generates are left out: it generates them again. */
const TABLES = `select c.relname as name,
  (select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
  to_json(array(select distinct r.relname from pg_constraint k join pg_class r on r.oid = k.confrelid
   where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid)) as needs,
  (select json_agg(json_build_object('name', quote_ident(l.relname),
     'rows', greatest(l.reltuples, 0),
     'pages', pg_relation_size(l.oid) / current_setting('block_size')::integer,
     'size', case when l.reltoastrelid <> 0 and pg_relation_size(l.reltoastrelid) > 0 then (
       select string_agg(format('coalesce(pg_column_size(%I), 0)', a.attname), ' + ') from pg_attribute a
       where a.attrelid = l.oid and a.attnum > 0 and not a.attisdropped and a.attlen = -1) end) order by l.relname)
   from pg_class l where l.relkind = 'r'
     and (l.oid = c.oid or l.oid in (select inhrelid from pg_inherits where inhparent = c.oid))) as leaves
from pg_class c
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname`;

interface TableRow {
  readonly name: string;
  readonly columns: string;
  readonly needs: readonly string[];
  readonly leaves:
    | readonly {
        readonly name: string;
        readonly rows: number;
        readonly pages: number;
        readonly size: string | null;
      }[]
    | null;
}

/** Reads the tables of the schema, each after those that its rows refer to. @throws UnavailableError */
export async function readTables(session: Pick<BulkSession, 'query'>): Promise<readonly SchemaTable[]> {
  const rows = await session.query<TableRow>(TABLES);
  const tables = rows.map(({ name, columns, needs, leaves }) => ({
    name,
    columns,
    needs,
    leaves: (leaves ?? []).map((leaf) => ({ name: leaf.name, pages: leaf.pages, sizeOfRow: leaf.size })),
    estimatedRows: (leaves ?? []).reduce((sum, leaf) => sum + leaf.rows, 0),
  }));
  return ordered(tables);
}

/**
 * Orders tables so that each comes after those that it needs. @throws Error where they need one another in a
 * circle
 */
export function ordered<T extends { readonly name: string; readonly needs: readonly string[] }>(
  tables: readonly T[],
): readonly T[] {
  const left = new Map(tables.map((table) => [table.name, table]));
  const done: T[] = [];
  while (left.size > 0) {
    const next = [...left.values()].filter(({ needs }) => !needs.some((name) => left.has(name)));
    if (next.length === 0)
      throw new Error(
        `${[...left.keys()].join(', ')} refer to one another in a circle, so none can be loaded first.`,
      );
    for (const table of next) left.delete(table.name);
    done.push(...next);
  }
  return done;
}

/** The pages that are read at once: 2 MiB. */
const PAGES = 256;
/**
 * The most octets that the rows of one read may take, as they are stored; a single page with more is read all
 * the same.
 */
const BYTES = 2_097_152;
/** The pages that are measured at once. */
const MEASURED = 4_096;

/**
 * The ranges of pages in which the rows of a leaf are read, so that no read takes much memory. @throws
 * UnavailableError
 */
export async function* rangesOf(
  session: Pick<BulkSession, 'query'>,
  { name, pages, sizeOfRow }: Leaf,
): AsyncGenerator<string> {
  if (sizeOfRow === null) {
    for (let from = 0; from < pages; from += PAGES) yield within(from, from + PAGES);
    return;
  }
  for (let window = 0; window < pages; window += MEASURED) {
    const measured = await session.query<{ page: number; bytes: number }>(
      `select page, sum(bytes)::float8 as bytes from (
         select (ctid::text::point)[0]::integer as page, ${sizeOfRow} as bytes from ${name}
         where ${within(window, window + MEASURED)}) rows
       group by page order by page`,
    );
    let from = window;
    let sum = 0;
    for (const { page, bytes } of measured) {
      if (page > from && (sum + bytes > BYTES || page - from >= PAGES)) {
        yield within(from, page);
        from = page;
        sum = 0;
      }
      sum += bytes;
    }
    yield within(from, window + MEASURED);
  }
}

const within = (from: number, to: number): string => `ctid >= '(${from},0)'::tid and ctid < '(${to},0)'::tid`;
