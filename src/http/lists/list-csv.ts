import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { type CellValue, CSV_MARK, csvRow } from '../../platform/csv/write.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { type Call, type Page, type Route, WrittenPage } from '../request/route.ts';
import { csvDownload } from './csv-download.ts';

/** Items that one statement reads. The next ones are read when the client has taken these. */
const BATCH = 100;

/** The description of the format in the documentation. */
const CSV_FORMAT =
  'UTF-8 with a byte order mark and CRLF. A cell that a spreadsheet would run as a formula begins with an apostrophe.';

/** The names of a download of a list. */
interface CsvOfList {
  /** The `operationId`. */
  readonly name: string;
  /** The file's name. */
  readonly file: string;
  readonly summary: string;
  /** The name of the act in the audit log, for a list of people. */
  readonly action?: string;
}

/** A list, and the same list as a file. */
export const withCsv = (names: CsvOfList, list: Route): readonly [Route, Route] => [
  list,
  csvOfList(list, names),
];

/**
 * The same list as a file: all its pages, with its filters, permission and order, at `…/export`. Its columns
 * are the members of an item. No more than one page is held at a time.
 */
export function csvOfList(list: Route, { name, file, summary, action }: CsvOfList): Route {
  const columns = columnsOf(list.response);
  const header = csvRow(columns.map((path) => path.join('.')));
  const example = (list.example?.response ?? []) as readonly object[];
  return {
    ...list,
    path: `${list.path}/export`,
    name,
    summary,
    ...(action !== undefined && { audit: { action } }),
    description: `All items of the list with these filters, in its order, one a row. ${CSV_FORMAT}`,
    query: filtersOf(list.query ?? Type.Object({})),
    response: Type.String({ description: 'The file.' }),
    responseType: 'text/csv',
    example: { response: header + example.map((item) => rowOf(columns, item)).join('') },
    handle: async (call) => {
      const pages = pagesOf(list, call as Call);
      // A refusal, such as of a campaign that does not exist, is an answer and no file.
      const { value: first = [] } = await pages.next();
      return first instanceof Failure ? first : csvDownload(file, textOf(header, first, pages, columns));
    },
  };
}

async function* textOf(
  header: string,
  first: readonly object[],
  pages: AsyncGenerator<readonly object[] | Failure, undefined>,
  columns: readonly Path[],
): AsyncGenerator<string, undefined> {
  yield CSV_MARK + header + first.map((item) => rowOf(columns, item)).join('');
  for await (const items of pages) {
    // The file breaks off, which a client notices: it would take a short one for the whole list.
    if (items instanceof Failure) throw new Error(`A list could not be read to its end: ${items.message}`);
    yield items.map((item) => rowOf(columns, item)).join('');
  }
}

/** The items of all pages of a list, a page at a time; a refusal is the last one. */
export async function* pagesOf(
  list: Pick<Route, 'handle'>,
  call: Call,
): AsyncGenerator<readonly object[] | Failure, undefined> {
  for (let after: string | undefined; ; ) {
    const query = { ...(call.query as object), limit: BATCH, ...(after !== undefined && { after }) };
    const page = (await list.handle({ ...call, query })) as Page<object> | WrittenPage<object> | Failure;
    if (page instanceof Failure) {
      yield page;
      return;
    }
    const items =
      page instanceof WrittenPage ? (JSON.parse(`[${page.text}]`) as readonly object[]) : page.data;
    const { hasMore, nextCursor } = page.pagination;
    // A search may look through many rows for none. Others have their turn between its pages as well, and it
    // ends when the client leaves.
    yield items;
    if (!hasMore || nextCursor === null) return;
    after = nextCursor;
  }
}

/** The query of a list without its pages. */
export function filtersOf<Properties extends TProperties>(
  query: TObject<Properties>,
): TObject<Omit<Properties, 'after' | 'limit'>> {
  const { after: _, limit: __, ...filters } = query.properties;
  return Type.Object(filters) as TObject<Omit<Properties, 'after' | 'limit'>>;
}

/** The members that lead to a value: `actor` and `type`. */
type Path = readonly string[];

/** The columns of a list: every member of its items, those of an object one by one. */
export function columnsOf(response: TSchema): readonly Path[] {
  const paths = new Map<string, Path>();
  for (const object of objectsOf(response.items as TSchema))
    for (const [name, schema] of Object.entries(object.properties))
      for (const path of within(name, schema)) paths.set(path.join('.'), path);
  return [...paths.values()];
}

/** The objects that an item may be. */
const objectsOf = (schema: TSchema): readonly TObject[] =>
  Array.isArray(schema.anyOf) ? (schema.anyOf as TSchema[]).flatMap(objectsOf) : [schema as TObject];

function within(name: string, schema: TSchema): readonly Path[] {
  const names = Object.keys((schema.properties as object | undefined) ?? {});
  return names.length === 0 ? [[name]] : names.map((each) => [name, each]);
}

const rowOf = (columns: readonly Path[], item: object): string =>
  csvRow(columns.map((path) => cellOf(valueAt(item, path))));

function valueAt(item: object, path: Path): unknown {
  let value: unknown = item;
  for (const name of path)
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return value;
}

function cellOf(value: unknown): CellValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return isList ? value.join(', ') : JSON.stringify(value);
}
