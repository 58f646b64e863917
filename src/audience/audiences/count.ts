import { and, desc, inArray, type SQL, sql } from 'drizzle-orm';
import { Semaphore } from '../../platform/async/semaphore.ts';
import { type Database, execute } from '../../platform/db/database.ts';
import { contacts } from '../../platform/db/schema/contacts.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { type ContactView, contactJson, contactOf, ownContacts, type Scope } from '../contacts/queries.ts';

/** The number of contacts that a filter matches, exact or estimated. */
export interface Count {
  readonly count: number;
  readonly isExact: boolean;
}

/** The same with some of them, newest first. */
export interface CountWithSample extends Count {
  readonly sample: readonly ContactView[];
}

/**
 * The most that a count may cost, in the units of PostgreSQL's planner: some 250,000 contacts that are looked
 * at one after the other, or 6,000 that an index finds all over the table. Those who count at the same time
 * share it, so that all are answered soon: what is exact for one alone is estimated for the sixteenth.
 */
const MOST_COST = 25_000;
/** The cost of an estimate. A count that costs no more is made instead. */
const COST_OF_ESTIMATE = 7_000;
/**
 * Contacts of a sample: the estimate of a share of 5 % is right within a tenth of it, nearly always. Those
 * who ask at the same time share this too, down to a sample that is right within a fifth.
 */
const SAMPLE = 20_000;
const LEAST_SAMPLE = 5_000;
const SHOWN = 10;
/**
 * Counts that the database works on at once: half of the connections for reads, so that others are never kept
 * waiting.
 */
const AT_ONCE = 2;
/** Further ones are turned away; these are answered within five seconds. */
const MOST_WAITING = 200;
/** Per workspace, so that a loop of one client delays no other workspace. */
const MOST_OF_ONE = 50;

interface Plan {
  readonly 'Total Cost': number;
  readonly 'Plan Rows': number;
}

interface CountWithIds extends Count {
  readonly ids: readonly string[];
}

/**
 * Counts the contacts that conditions hold for. What would cost too much is estimated from some pages of the
 * table.
 */
export class ContactCounter {
  readonly #turns = new Semaphore(AT_ONCE, undefined, MOST_WAITING);
  readonly #countingFor = new Map<string, number>();
  #counting = 0;

  constructor(
    private readonly database: Database,
    /** For tests. */
    private readonly mostCost: number | null = null,
  ) {}

  /** The number of contacts that meet the condition. @throws UnavailableError */
  async count(scope: Scope, condition: SQL): Promise<Count> {
    const { count, isExact } = await this.#inTurn(scope, () => this.#find(scope, condition, 0));
    return { count, isExact };
  }

  /**
   * The number of contacts that meet the condition, with a sample. The sample has the newest, where all were
   * counted or the newest contacts have enough. @throws UnavailableError
   */
  async preview(scope: Scope, condition: SQL): Promise<CountWithSample> {
    const { count, isExact, ids } = await this.#inTurn(scope, () => this.#find(scope, condition, SHOWN));
    const sample = ids.length === 0 ? [] : await this.#rowsOf(scope, ids);
    return { count, isExact, sample };
  }

  async #inTurn<T>({ workspaceId }: Scope, work: () => Promise<T>): Promise<T> {
    const refused = () => new UnavailableError('Too many counts of contacts are asked for at once.');
    const own = this.#countingFor.get(workspaceId) ?? 0;
    if (own >= MOST_OF_ONE) throw refused();
    this.#countingFor.set(workspaceId, own + 1);
    this.#counting++;
    try {
      return await this.#turns.run(work, undefined, refused);
    } finally {
      this.#counting--;
      const left = (this.#countingFor.get(workspaceId) ?? 1) - 1;
      if (left > 0) this.#countingFor.set(workspaceId, left);
      else this.#countingFor.delete(workspaceId);
    }
  }

  async #find(scope: Scope, condition: SQL, shown: number): Promise<CountWithIds> {
    const own = ownContacts(scope);
    const matching = sql`select ${contacts.id} from ${contacts} where ${own} and ${condition}`;
    const { 'Total Cost': cost } = await this.#planOf(matching);
    const mostCost = this.mostCost ?? Math.max(COST_OF_ESTIMATE, MOST_COST / this.#counting);
    const estimate = cost > mostCost ? await this.#estimate(own, condition, shown) : null;
    if (estimate) return estimate;
    const [row] = await execute<{ count: number; ids: readonly string[] }>(
      this.database,
      shown === 0
        ? sql`select count(*)::float8 as count, '{}'::text[] as ids from (${matching}) m`
        : sql`with matching as materialized (${matching}) select (select count(*) from matching)::float8 as count,
            array(select id from matching order by id desc limit ${shown}) as ids`,
    );
    return { count: row?.count ?? 0, ids: row?.ids ?? [], isExact: true };
  }

  /**
   * An estimate; null where a sample would tell too little, since the table holds few contacts of this
   * environment.
   */
  async #estimate(own: SQL, condition: SQL, shown: number): Promise<CountWithIds | null> {
    const everybody = await this.#planOf(sql`select from ${contacts}`);
    const sampled = Math.max(LEAST_SAMPLE, SAMPLE / this.#counting);
    const percent = Math.min(100, (sampled / Math.max(everybody['Plan Rows'], 1)) * 100);
    if (percent === 100) return null;
    const newest = sql`array(select id from (select * from ${contacts} where ${own} order by id desc limit ${Math.round(sampled / 2)}) contacts
      where ${condition} limit ${shown})`;
    const [row] = await execute<{
      own: number;
      matching: number;
      met: readonly string[] | null;
      newest: readonly string[];
    }>(
      this.database,
      sql`select count(*)::float8 as own, (count(*) filter (where matches))::float8 as matching,
        (array_agg(id) filter (where matches))[1:${sql.raw(String(SHOWN))}] as met,
        ${shown === 0 ? sql`'{}'::text[]` : newest} as newest
      from (
        select ${contacts.id}, (${condition}) is true as matches
        from ${contacts} tablesample system (${sql.raw(percent.toFixed(6))}) where ${own} offset 0
      ) looked`,
    );
    if (!row || row.own < LEAST_SAMPLE / 5) return null;
    const count = Math.max(Math.round((row.matching * 100) / percent), row.newest.length);
    const ids = [...new Set([...row.newest, ...(row.met ?? [])])].slice(0, shown);
    return { count, ids, isExact: false };
  }

  async #rowsOf(scope: Scope, ids: readonly string[]): Promise<readonly ContactView[]> {
    const rows = await this.database.read((orm) =>
      orm
        .select({ json: contactJson })
        .from(contacts)
        .where(and(ownContacts(scope), inArray(contacts.id, [...ids])))
        .orderBy(desc(contacts.id)),
    );
    return rows.map(contactOf);
  }

  /** The number of rows that the planner expects. */
  async #planOf(query: SQL): Promise<Plan> {
    const rows = await execute<{ 'QUERY PLAN': unknown }>(this.database, sql`explain (format json) ${query}`);
    const plan = rows[0]?.['QUERY PLAN'];
    const [{ Plan: found }] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: Plan }];
    return found;
  }
}
