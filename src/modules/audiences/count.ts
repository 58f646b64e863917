import { and, desc, type SQL, sql } from 'drizzle-orm';
import type { Database, Orm } from '../../db/database.ts';
import { contacts } from '../../db/schema/audience.ts';
import { type ContactRow, contactColumns, ownContacts, type Scope } from '../contacts/queries.ts';

/** How many contacts a filter matches, and whether they were all counted. */
export interface Count {
  readonly count: number;
  readonly isExact: boolean;
}

/**
 * The most that a count may cost, in the units of PostgreSQL's planner: some 250,000 contacts that are looked at one after the
 * other, or 6,000 that an index finds all over the table.
 */
const MOST_COST = 25_000;
/** Contacts of a sample: the estimate of a share of 5 % is right within a tenth of it, nearly always. */
const SAMPLE = 20_000;
const SHOWN = 10;

interface Plan {
  readonly 'Total Cost': number;
  readonly 'Plan Rows': number;
}

/** What the planner expects of a query. */
async function planOf(database: Database, query: SQL): Promise<Plan> {
  const rows = await rowsOf<{ 'QUERY PLAN': unknown }>(database, sql`explain (format json) ${query}`);
  const plan = rows[0]?.['QUERY PLAN'];
  const [{ Plan: found }] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: Plan }];
  return found;
}

/** The rows of a statement: one of the two drivers wraps them. */
async function rowsOf<Row>(database: Database, statement: SQL): Promise<readonly Row[]> {
  const result: unknown = await database.read((orm: Orm) => orm.execute(statement));
  return (Array.isArray(result) ? result : (result as { readonly rows: unknown }).rows) as readonly Row[];
}

/**
 * Counts the contacts that a condition holds for. What would cost too much is estimated: from a sample of pages of the table,
 * which holds the contacts of everybody. @throws Unavailable
 */
export async function countContacts(
  database: Database,
  scope: Scope,
  condition: SQL,
  mostCost: number = MOST_COST,
): Promise<Count> {
  const own = ownContacts(scope);
  const counting = sql`select count(*)::float8 as count from ${contacts} where ${own} and ${condition}`;
  const plan = await planOf(database, counting);
  if (plan['Total Cost'] > mostCost) {
    const estimate = await estimateOf(database, own, condition);
    if (estimate !== null) return { count: estimate, isExact: false };
  }
  const [row] = await rowsOf<{ count: number }>(database, counting);
  return { count: row?.count ?? 0, isExact: true };
}

/** An estimate; null where a sample would tell too little, since the table holds few contacts of this environment. */
async function estimateOf(database: Database, own: SQL, condition: SQL): Promise<number | null> {
  const everybody = await planOf(database, sql`select from ${contacts}`);
  const percent = Math.min(100, (SAMPLE / Math.max(everybody['Plan Rows'], 1)) * 100);
  if (percent === 100) return null;
  const [row] = await rowsOf<{ own: number; matching: number }>(
    database,
    sql`select count(*)::float8 as own, (count(*) filter (where ${condition}))::float8 as matching
      from ${contacts} tablesample system (${sql.raw(percent.toFixed(6))}) where ${own}`,
  );
  if (!row || row.own < SAMPLE / 20) return null;
  return Math.round((row.matching * 100) / percent);
}

/**
 * Some of the contacts that a condition holds for, newest first: of all where that is cheap, otherwise of the newest ones.
 * @throws Unavailable
 */
export async function sampleContacts(
  database: Database,
  scope: Scope,
  condition: SQL,
  isCheap: boolean,
): Promise<readonly ContactRow[]> {
  const newest = sql`${contacts.id} in (select c.id from contacts c where c.workspace_id = ${scope.workspaceId}
    and c.livemode = ${scope.livemode} order by c.id desc limit ${SAMPLE})`;
  return database.read((orm) =>
    orm
      .select(contactColumns)
      .from(contacts)
      .where(and(ownContacts(scope), condition, ...(isCheap ? [] : [newest])))
      .orderBy(desc(contacts.id))
      .limit(SHOWN),
  );
}
