import { type Purpose, SEALED_COLUMNS, type SealedColumn } from '../../platform/crypto/sealed-columns.ts';
import { markOf, openOrNull, SEALED_MARK, type Sealer, sealerOf } from '../../platform/crypto/sealer.ts';
import type { Keys } from '../../platform/crypto/secret-key.ts';
import type { Database, Parameter } from '../../platform/db/database.ts';
import { isRetriable } from '../../platform/db/sqlstate.ts';

/** The rows that are looked at in one statement. */
const PAGE = 1_000;
/** The rows that are written in one: they are locked for as long as it takes. */
const BATCH = 100;

/** The result of a pass over a column: the texts that were not sealed with the current key. */
export interface Pass {
  readonly found: number;
  readonly resealed: number;
  /** Sealed with a key that is lost. They stay as they are. */
  readonly lost: number;
}

type Row = Readonly<Record<string, string | number | boolean>> & { readonly sealed: string };

interface Page {
  readonly last: Readonly<Record<string, Parameter>> | null;
  readonly found: readonly Row[];
}

const list = (names: readonly string[], form: (name: string, index: number) => string): string =>
  names.map(form).join(', ');

/** The rows of a page that another key has sealed, and where the page ends; null behind the last row. */
function pageSql({ table, column, key }: SealedColumn, isFirst: boolean): string {
  const names = Object.keys(key);
  const after = list(names, (name, index) => `$${index + 3}::${key[name]}`);
  return `with page as materialized (
  select ${names.join(', ')}, ${column} as sealed from ${table}
  ${isFirst ? '' : `where (${names.join(', ')}) > (${after})`} order by ${names.join(', ')} limit $1::integer
), last as (
  select ${names.join(', ')} from page order by ${list(names, (name) => `${name} desc`)} limit 1
)
select (select row_to_json(l) from last l) as last, coalesce((select json_agg(p) from page p
  where starts_with(p.sealed, '${SEALED_MARK}') and not starts_with(p.sealed, $2)), '[]') as found`;
}

/** Writes what a row has become, unless something else was written there meanwhile. */
function writeSql({ table, column, key }: SealedColumn): string {
  const names = Object.keys(key);
  return `update ${table} t set ${column} = r.becomes
from json_to_recordset($1::text::json) as r(${list(names, (name) => `${name} ${key[name]}`)}, sealed text, becomes text)
where ${names.map((name) => `t.${name} = r.${name}`).join(' and ')} and t.${column} = r.sealed returning 1 as written`;
}

/**
 * Reseals the texts of a column that another key has sealed, page by page. Texts that a crash leaves out are
 * found by the next pass. @throws UnavailableError
 */
export async function resealColumn(
  database: Database,
  keys: Keys,
  sealed: SealedColumn,
  onBatch: (resealed: number) => void = () => {},
): Promise<Pass> {
  const sealer = sealerOf(() => keys);
  const pass = { found: 0, resealed: 0, lost: 0 };
  let after: readonly Parameter[] | null = [];
  while (after !== null) {
    const [page]: Page[] = await database.query<Page>(pageSql(sealed, after.length === 0), [
      PAGE,
      markOf(keys),
      ...after,
    ]);
    const found: readonly Row[] = page?.found ?? [];
    const anew = found.flatMap((row) => {
      const becomes = sealedAnew(sealer, sealed, row);
      return becomes === null ? [] : [{ ...row, becomes }];
    });
    pass.found += found.length;
    pass.lost += found.length - anew.length;
    for (let from = 0; from < anew.length; from += BATCH) {
      const written = await write(database, sealed, anew.slice(from, from + BATCH));
      pass.resealed += written;
      onBatch(written);
    }
    const last: Page['last'] = page?.last ?? null;
    after = last && Object.keys(sealed.key).map((name) => last[name] ?? null);
  }
  return pass;
}

/**
 * Answers how many rows were written. Of two statements that lock the same rows one is given up, and the next
 * pass finds its rows.
 */
async function write(database: Database, sealed: SealedColumn, rows: readonly object[]): Promise<number> {
  try {
    return (await database.query(writeSql(sealed), [JSON.stringify(rows)])).length;
  } catch (error) {
    if (isRetriable(error)) return 0;
    throw error;
  }
}

/** Null when no key opens it that is there. */
function sealedAnew(sealer: Sealer, { purposes }: SealedColumn, row: Row): string | null {
  for (const { purpose: prefix, boundTo } of purposes) {
    const purpose = [prefix, ...boundTo.map((name) => row[name])].join(' ') as Purpose;
    const text = openOrNull(sealer, row.sealed, purpose);
    if (text !== null) return sealer.seal(text, purpose);
  }
  return null;
}

/** Replies are many, and expire after a day: a mere count leaves them out. */
const COUNTED = SEALED_COLUMNS.filter(({ table }) => table !== 'idempotency_keys');

/** The number of texts that are not sealed with the current key, replies aside. @throws UnavailableError */
export async function countLeft(database: Database, keys: Keys): Promise<number> {
  const counts = COUNTED.map(
    ({ table, column }) => `(select count(*) from ${table}
  where starts_with(${column}, '${SEALED_MARK}') and not starts_with(${column}, $1))`,
  );
  const [row] = await database.query<{ left: number }>(`select (${counts.join(' + ')})::float8 as "left"`, [
    markOf(keys),
  ]);
  return row?.left ?? 0;
}
