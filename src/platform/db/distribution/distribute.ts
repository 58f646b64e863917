import type { Database } from '../database.ts';
import { SCHEMA_LOCK } from '../migrate.ts';
import { DISTRIBUTED, type DistributedTable, SHARD_KEY } from './catalogue.ts';
import { undistributed } from './present.ts';

/** Receives a text at each step. */
export type OnStep = (says: string) => void;

/** The database cannot be distributed; the sentence says what to do. */
export class NotDistributable extends Error {
  override readonly name = 'NotDistributable';
}

const PRESENT = `select exists (select from pg_proc where proname = 'create_distributed_table') as "hasCitus"`;

/** The embedded database, which need not even be opened for it. */
export const embeddedIsOne = (): NotDistributable =>
  new NotDistributable(
    'The embedded database is one process. Set DATABASE_URL to the coordinator of a Citus cluster.',
  );

/** Refuses a database that cannot be distributed, before anything is changed. @throws NotDistributable */
export async function refuseUndistributable(database: Database): Promise<void> {
  if (database.kind === 'embedded') throw embeddedIsOne();
  const [row] = await database.query<{ hasCitus: boolean }>(PRESENT);
  if (!row?.hasCitus)
    throw new NotDistributable(
      'The extension citus is not in this database. Install Citus on all nodes, run "create extension citus" in their databases and add them on the coordinator with citus_add_node; or run "posthorn migrate" for one server.',
    );
}

/**
 * Distributes the tables of the catalogue over the nodes of a Citus cluster, each by the workspace. First
 * every table gets the workspace and has it in its keys, then each is placed: an interrupted run continues,
 * and one on a distributed database does nothing. No instance of the service may run, since a statement of
 * one server does not fit the keys any more.
 * @returns the tables that were placed now. @throws NotDistributable
 */
export async function distribute(database: Database, onStep: OnStep = () => {}): Promise<readonly string[]> {
  await refuseUndistributable(database);
  const left = await undistributed(database);
  const [first] = DISTRIBUTED;
  for (const each of left) await prepare(database, each, onStep);
  const placed: string[] = [];
  for (const { table } of DISTRIBUTED.filter((each) => left.includes(each))) {
    const beside = table === first?.table ? 'default' : first?.table;
    const begin = performance.now();
    await database.script(
      `${LOCKED}; select create_distributed_table('${table}', '${SHARD_KEY}', colocate_with => '${beside}')`,
    );
    // The local rows, which were copied to the nodes, would lie here for ever, out of sight.
    await database.script(`select truncate_local_data_after_distributing_table('${table}')`);
    onStep(`Distributed ${table} in ${Math.round(performance.now() - begin)} ms.`);
    placed.push(table);
  }
  return placed;
}

const LOCKED = `select pg_advisory_xact_lock(${SCHEMA_LOCK})`;

/** A unique key of a table that the workspace is no part of. */
interface Key {
  readonly name: string;
  /** As the catalogue of PostgreSQL has it; null of an index without a constraint. */
  readonly type: 'p' | 'u' | null;
  readonly columns: string;
  readonly included: string | null;
  readonly predicate: string | null;
}

const KEYS = `select x.relname as name, con.contype as type,
  (select string_agg(quote_ident(a.attname), ', ' order by k.place) from unnest(i.indkey) with ordinality k(attnum, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum where k.place <= i.indnkeyatts) as columns,
  (select string_agg(quote_ident(a.attname), ', ' order by k.place) from unnest(i.indkey) with ordinality k(attnum, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum where k.place > i.indnkeyatts) as included,
  pg_get_expr(i.indpred, i.indrelid) as predicate
from pg_index i join pg_class x on x.oid = i.indexrelid
left join pg_constraint con on con.conindid = i.indexrelid and con.contype in ('p', 'u')
where i.indrelid = $1::text::regclass and i.indisunique and not exists (
  select from pg_attribute a where a.attrelid = i.indrelid and a.attname = '${SHARD_KEY}' and a.attnum = any(i.indkey))
order by 1`;

/**
 * The workspace in the table, and at the end of its keys: a look-up by the id alone still uses the same
 * index.
 */
async function prepare(
  database: Database,
  { table, owner }: DistributedTable,
  onStep: OnStep,
): Promise<void> {
  const keys = await database.query<Key>(KEYS, [table]);
  if (keys.length === 0) return;
  const begin = performance.now();
  await database.script(
    [LOCKED, ...(owner ? filled(table, owner) : []), ...keys.map((key) => widened(table, key))].join(';\n'),
  );
  onStep(`Prepared ${table} in ${Math.round(performance.now() - begin)} ms.`);
}

/** A row without its owner is invisible, and has no node. */
const filled = (table: string, owner: NonNullable<DistributedTable['owner']>): readonly string[] => [
  `alter table ${table} add column if not exists ${SHARD_KEY} text collate "C"`,
  `update ${table} t set ${SHARD_KEY} = o.${SHARD_KEY} from ${owner.table} o where o.id = t.${owner.column} and t.${SHARD_KEY} is null`,
  `delete from ${table} where ${SHARD_KEY} is null`,
  `alter table ${table} alter column ${SHARD_KEY} set not null`,
];

function widened(table: string, { name, type, columns, included, predicate }: Key): string {
  const definition = `(${columns}, ${SHARD_KEY})${included ? ` include (${included})` : ''}`;
  if (type)
    return `alter table ${table} drop constraint ${name}, add constraint ${name} ${type === 'p' ? 'primary key' : 'unique'} ${definition}`;
  return `drop index ${name}; create unique index ${name} on ${table} ${definition}${predicate ? ` where ${predicate}` : ''}`;
}
