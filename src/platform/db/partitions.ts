import { DAY_MS } from '../time/clock.ts';
import type { Database, Statements } from './database.ts';
import { type IdPrefix, lowestIdAt } from './ids.ts';
import { codeOf } from './sqlstate.ts';

/** The time for which partitions are made ahead. */
const AHEAD_MS = 2 * DAY_MS;
/**
 * The time ahead for which a start on an embedded database makes partitions: all six take a fifth of its
 * first start, and a duty makes the others right behind it.
 */
const FIRST_AHEAD_MS = DAY_MS / 24;

/** The tables that are partitioned by the day inside the id of `prefix`. */
export const PARTITIONED: readonly {
  readonly table: string;
  readonly column: string;
  readonly prefix: IdPrefix;
}[] = [
  // The emails are dropped first: a turn has no reader without its email, while an email without its turns
  // looks as it did when it was accepted, and never expires.
  { table: 'emails', column: 'id', prefix: 'em' },
  { table: 'email_turns', column: 'email_id', prefix: 'em' },
];

const dayStart = (atMs: number): number => Math.floor(atMs / DAY_MS) * DAY_MS;

/** The SQLSTATE of a lock that was not granted in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * The time to wait for a lock. Attaching locks the default partition against all others, detaching locks the
 * parent, and every statement that comes while such a lock is waited for waits behind it. A dump or a vacuum
 * may hold a table for hours, so the wait is short and is repeated every hour.
 */
const BRIEFLY = `set local lock_timeout = '100ms'`;

/** `emails_20261120` */
export const partitionName = (table: string, dayMs: number): string =>
  `${table}_${new Date(dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`;

/**
 * Makes the partitions of today and of the time ahead. `create … like` and `attach` instead of `create …
 * partition of`: the latter locks the parent against every insert. A day whose rows already are in the
 * default partition stays there, and a table that is locked gets its partitions next time; until then rows of
 * such a day go to the default partition.
 */
export async function ensurePartitions(
  database: Statements,
  nowMs: number,
  { aheadMs = AHEAD_MS, stop }: { readonly aheadMs?: number; readonly stop?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  const made: string[] = [];
  const present = new Set(await readPartitions(database));
  for (const { table, prefix } of PARTITIONED) {
    for (let from = dayStart(nowMs); from <= nowMs + aheadMs; from += DAY_MS) {
      const name = partitionName(table, from);
      if (present.has(name)) continue;
      if (stop?.aborted) return made;
      const attached = await attach(database, table, name, boundsOf(prefix, from));
      // A lock that is held now is held for the next day as well: readers wait once, and not once for each
      // day.
      if (attached === 'held') break;
      if (attached === 'made') made.push(name);
    }
  }
  return made;
}

/** Makes the partitions of certain days, before rows of theirs are loaded. */
export async function makePartitions(database: Statements, days: readonly number[]): Promise<void> {
  const present = new Set(await readPartitions(database));
  for (const { table, prefix } of PARTITIONED)
    for (const day of days.map(dayStart)) {
      const name = partitionName(table, day);
      if (!present.has(name)) await attach(database, table, name, boundsOf(prefix, day));
    }
}

const boundsOf = (prefix: IdPrefix, day: number): readonly [string, string] => [
  lowestIdAt(prefix, day),
  lowestIdAt(prefix, day + DAY_MS),
];

/** Makes what a start cannot do without. */
export const ensureFirstPartitions = (
  database: Statements & Pick<Database, 'kind'>,
  nowMs: number,
): Promise<readonly string[]> =>
  ensurePartitions(database, nowMs, database.kind === 'embedded' ? { aheadMs: FIRST_AHEAD_MS } : {});

async function readPartitions(database: Statements): Promise<readonly string[]> {
  const rows = await database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid`,
  );
  return rows.map(({ name }) => name);
}

async function attach(
  database: Statements,
  table: string,
  name: string,
  [low, high]: readonly [string, string],
): Promise<'made' | 'there' | 'held'> {
  try {
    // One statement, one transaction; Citus takes no command in a message with others. The advisory lock lets
    // only one of several starting instances through.
    await database.script(
      `do $$ begin
         ${BRIEFLY};
         perform pg_advisory_xact_lock(hashtext('${name}'));
         create table if not exists ${name} (like ${table} including defaults including constraints including storage);
         alter table ${table} attach partition ${name} for values from ('${low}') to ('${high}');
       end $$`,
    );
    return 'made';
  } catch (error) {
    const code = codeOf(error);
    if (code === LOCK_NOT_AVAILABLE) return 'held';
    // Another instance made it (42809: it is attached already), or the default partition holds rows of that
    // day (23514): both are in order. Anything else is not.
    if (code !== '42809' && code !== '23514') throw error;
    return 'there';
  }
}

/** The days (their first millisecond) that have partitions, oldest first. */
export async function partitionedDays(database: Statements): Promise<readonly number[]> {
  const days = (await readPartitions(database)).flatMap((name) => {
    const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
    return day === undefined ? [] : [Date.UTC(Number(year), Number(month) - 1, Number(day))];
  });
  return [...new Set(days)].sort((a, b) => a - b);
}

/**
 * Drops the partitions of a day. The rows of the ids that are kept go to the default partition, in the same
 * transaction. Writers wait meanwhile, so nothing is searched for here: the ids are known and few. When the
 * lock is not granted soon (a vacuum may hold it), or `stop` is aborted between two tables, the rest of the
 * day stays until next time. Returns true when the whole day is gone.
 */
export async function retireDay(
  database: Statements,
  dayMs: number,
  kept: readonly string[],
  stop?: AbortSignal,
): Promise<boolean> {
  const ids = `array[${kept.map((id) => `'${id}'`).join(',')}]::text[]`;
  // A database that is distributed is given none: no statement moves rows between tables by their ids there.
  const keeping = (table: string, name: string, column: string): string =>
    kept.length === 0
      ? ''
      : `insert into ${table} select p.* from unnest(${ids}) k(id) cross join lateral (
           select * from ${name} where ${column} = k.id offset 0) p;`;
  for (const { table, column } of PARTITIONED) {
    if (stop?.aborted) return false;
    const name = partitionName(table, dayMs);
    const retire = database.script(
      `do $$ begin
         ${BRIEFLY};
         alter table ${table} detach partition ${name};
         ${keeping(table, name, column)}
         drop table ${name};
       end $$`,
    );
    try {
      await retire;
    } catch (error) {
      // 42P01: another instance, or an earlier try that got this far, has dropped it.
      if (codeOf(error) === LOCK_NOT_AVAILABLE) return false;
      if (codeOf(error) !== '42P01') throw error;
    }
  }
  return true;
}
