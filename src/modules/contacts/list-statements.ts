import { and, type Column, type SQL, sql } from 'drizzle-orm';
import { type Database, execute, PREPARED } from '../../db/database.ts';
import { contacts } from '../../db/schema/audience.ts';
import type { Found } from '../../http/bounded-search.ts';
import { contactJson, ownContacts, type Scope } from './contact-rows.ts';

/** A contact of a page. */
export interface ListedContact {
  readonly id: string;
  /** As it is answered. */
  readonly json: string;
}

/** What a list asks of contacts besides their range. */
export interface Asked {
  readonly others: readonly SQL[];
  /** True when few statements have this form, so that connections may keep it. */
  readonly isKept: boolean;
}

/** The parts of a list. */
export interface PagesOptions {
  readonly database: Database;
  readonly scope: Scope;
  /** Conditions on the ids: where the list begins and ends. */
  readonly range: readonly SQL[];
  /** One more than a page shows. */
  readonly limit: number;
  /** Up to so many matches of an index are read and sorted; looking through the newest contacts finds more of them faster. */
  readonly few: number;
}

/** Above every character that a prefix can be followed by, in the order of bytes. */
const ABOVE_ALL = '\u{10ffff}';

/** No JSON of the database holds one. */
const BETWEEN = '\n';

/** The most rows of a page, and one: a number that stands in the statement tells the planner that it will need few. */
const MOST_ROWS = 101;

interface Indexed {
  readonly key: Column;
  readonly where: SQL;
}

/**
 * The indexes that know how texts begin; the last one leaves out those whose only name the second one has. They hold the ids as well:
 * two hundred rows of the table that lie apart took PostgreSQL 4 ms.
 */
const INDEXED: readonly Indexed[] = [
  { key: contacts.emailKey, where: sql`true` },
  { key: contacts.nameKey, where: sql`true` },
  {
    key: contacts.lastNameKey,
    where: sql`${contacts.firstNameKey} is not null and ${contacts.lastNameKey} is not null`,
  },
];

const either = (conditions: readonly SQL[]): SQL => sql`(${sql.join([...conditions], sql` or `)})`;

/**
 * Everything that the client chose stands in a relation of its own, so that the planner expects the same of every search: PostgreSQL plans
 * a statement anew at each call while it expects the values to make it cheaper, and planning this one took 1.2 of 1.6 ms.
 */
const chosen = (name: 'workspace_id' | 'livemode' | 'low' | 'high' | 'rows'): SQL =>
  sql`(select ${sql.raw(name)} from chosen)`;

const OWN_CHOSEN = sql`${contacts.workspaceId} = ${chosen('workspace_id')} and ${contacts.livemode} = ${chosen('livemode')}`;
const BEGIN = either(
  INDEXED.map(({ key }) => sql`${key} >= ${chosen('low')} and ${key} < ${chosen('high')}`),
);
const ARE_MANY = sql`(select many from tally)`;
const NEWEST_FIRST = sql`order by ${contacts.id} desc`;

interface Answer {
  readonly ids: string | null;
  readonly items: string | null;
  readonly stoppedAt: string | null;
}

/** The pages of one list, newest first, one statement each. */
export class ContactPages {
  readonly #own: SQL;
  readonly #inRange: SQL;

  constructor(private readonly options: PagesOptions) {
    this.#own = ownContacts(options.scope);
    this.#inRange = sql`${and(sql`true`, ...options.range)}`;
  }

  /** Everybody who meets the conditions, which an index finds. @throws Unavailable */
  all({ others, isKept }: Asked): Promise<Found<ListedContact>> {
    const page = sql`select * from (
      select * from ${contacts} where ${and(this.#own, this.#inRange, ...others)} ${NEWEST_FIRST} limit ${number(MOST_ROWS)}
    ) contacts limit ${this.options.limit}`;
    return this.#read({ relations: [], page, isKept, end: null });
  }

  /** Who meets the conditions among the newest. @throws Unavailable */
  among(newest: number, { others, isKept }: Asked): Promise<Found<ListedContact>> {
    const page = sql`${this.#amongNewest(newest, this.#own, others)} ${NEWEST_FIRST} limit ${this.options.limit}`;
    const end = sql`case when count(*) < ${this.options.limit} then ${this.#nth(newest, this.#own)} end`;
    return this.#read({ relations: [], page, isKept, end });
  }

  /**
   * Whose address or name begins with a key. Where few do, the indexes name them all; where many do, they are looked for among
   * the newest. Which of both holds is seen in the indexes, in the same statement. @throws Unavailable
   */
  whoBegin(key: string, newest: number, { others, isKept }: Asked): Promise<Found<ListedContact>> {
    const { scope, few, limit } = this.options;
    const hits = INDEXED.map((_, at) => sql.raw(`hits_${at}`));
    const relations = [
      sql`chosen as materialized (select ${scope.workspaceId}::text as workspace_id, ${scope.livemode}::boolean as livemode,
        ${key}::text as low, ${key + ABOVE_ALL}::text as high, ${limit}::integer as rows)`,
      // One more than few shows that they are many, so that half of everybody costs a thousand entries of an index.
      ...INDEXED.map((each, at) => sql`${hits[at]} as materialized (${beginning(each, few + 1)})`),
      sql`tally as materialized (select ${either(
        hits.map((each) => sql`(select count(*) from ${each}) > ${number(few)}`),
      )} as many)`,
      sql`few as materialized (
        select id from (${sql.join(
          hits.map((each) => sql`select id from ${each}`),
          sql` union `,
        )}) contacts
        where not ${ARE_MANY} and ${this.#inRange}
        order by id desc limit ${others.length === 0 ? chosen('rows') : number(INDEXED.length * few)})`,
    ];
    const newestOnes = this.#amongNewest(newest, sql`${ARE_MANY} and ${OWN_CHOSEN}`, [BEGIN, ...others]);
    const page = sql`select * from (
      select ${contacts}.* from few join ${contacts} on ${OWN_CHOSEN} and ${contacts.id} = few.id
      where ${and(sql`true`, ...others)}
      union all (select * from (${newestOnes}) contacts ${NEWEST_FIRST} limit ${chosen('rows')})
    ) contacts ${NEWEST_FIRST} limit ${chosen('rows')}`;
    const end = sql`case when ${ARE_MANY} and count(*) < ${chosen('rows')} then ${this.#nth(newest, OWN_CHOSEN)} end`;
    return this.#read({ relations, page, isKept, end });
  }

  /** Who meets the conditions among the newest of those whom the gate lets in. */
  #amongNewest(newest: number, gate: SQL, conditions: readonly SQL[]): SQL {
    return sql`select * from (
      select * from ${contacts} where ${gate} and ${this.#inRange} ${NEWEST_FIRST} limit ${number(newest)}
    ) contacts where ${and(sql`true`, ...conditions)}`;
  }

  #nth(newest: number, own: SQL): SQL {
    return sql`(select ${contacts.id} from ${contacts} where ${own} and ${this.#inRange} ${NEWEST_FIRST}
      offset ${number(newest - 1)} limit 1)`;
  }

  async #read({ relations, page, end, isKept }: Statement): Promise<Found<ListedContact>> {
    const joined = (what: SQL) => sql`string_agg(${what}, ${sql.raw(`E'\\n'`)} ${NEWEST_FIRST})`;
    const statement = sql`with ${sql.join([...relations, sql`page as materialized (${page})`], sql`, `)}
      select ${joined(sql`${contacts.id}`)} as ids, ${joined(contactJson)} as items, ${end ?? sql`null::text`} as "stoppedAt" from page contacts`;
    const [answer] = await execute<Answer>(this.options.database, statement, isKept ? PREPARED : {});
    const items = answer?.items?.split(BETWEEN) ?? [];
    const ids = answer?.ids?.split(BETWEEN) ?? [];
    return { rows: ids.map((id, n) => ({ id, json: items[n] ?? '' })), stoppedAt: answer?.stoppedAt ?? null };
  }
}

/** In the order of the key, which leaves the planner nothing but the index: it would rather walk through the table. */
const beginning = (
  { key, where }: Indexed,
  most: number,
): SQL => sql`select found.id from chosen cross join lateral (
    select ${contacts.id} from ${contacts}
    where ${contacts.workspaceId} = chosen.workspace_id and ${contacts.livemode} = chosen.livemode and ${where}
      and ${key} >= chosen.low and ${key} < chosen.high
    order by ${key} limit ${number(most)}
  ) found`;

interface Statement {
  /** What the page is made from. */
  readonly relations: readonly SQL[];
  readonly page: SQL;
  /** The id that the search stopped at, over the rows of the page; null where there is nothing to stop at. */
  readonly end: SQL | null;
  readonly isKept: boolean;
}

/** A number that stands in the statement: of a parameter the planner knows nothing, and expects a tenth of the table. */
const number = (value: number): SQL => sql.raw(String(value));
