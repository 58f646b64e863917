import { and, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm';
import { type CountRow, type CountView, countOf, READ_FOR_COUNT } from '../../../http/lists/count.ts';
import type { IdRange } from '../../../http/lists/list.ts';
import type { Parameter } from '../../../platform/db/database.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import { contacts, FIELD_INDEXES, type SearchIndex } from '../../../platform/db/schema/contacts.ts';
import { StatementTexts } from '../../../platform/db/server/statement-texts.ts';
import { contactJson, ownContacts, type Scope } from './contact-rows.ts';

/** The contacts of a page in its order. */
export interface FoundPage {
  /** Of each contact the value that the list is ordered by: a cursor. */
  readonly positions: readonly string[];
  /** Their JSON as it is answered, with `BETWEEN` between them. */
  readonly text: string;
  readonly stoppedAt: string | null;
}

/** The columns that lists are ordered by, each with an index that has it behind the environment. */
const ORDERED_BY = { createdAt: contacts.id, email: contacts.emailKey } as const;

/** The order of a list by addresses. */
export interface ByEmail {
  readonly order: IdRange['order'];
  /** The key of the address that the page begins after; null for the first page. */
  readonly after: string | null;
}

/** The filters of a list besides its range. */
export interface ContactListFilter {
  readonly status: string | undefined;
  /** The key of the only address. */
  readonly email: string | undefined;
  /** The contacts of an audience. */
  readonly audience: SQL | null;
  /** True when few statements have this form, so that connections may keep it. */
  readonly isKept: boolean;
}

/** The parts of a list. */
export interface PagesOptions {
  readonly reads: Reads;
  readonly scope: Scope;
  /** The range of the list. */
  readonly range: IdRange;
  /** Null for a list that is ordered by ids, as its range says. */
  readonly byEmail: ByEmail | null;
  /** One more than a page shows. */
  readonly limit: number;
  /**
   * Up to so many matches of an index are read and sorted; looking through the newest contacts finds more of
   * them faster.
   */
  readonly few: number;
}

/** Above every character that a prefix can be followed by, in the order of bytes. */
const ABOVE_ALL = '\u{10ffff}';

/** Between two contacts. No JSON of the database holds a line feed, and JSON allows one here. */
const BETWEEN = ',\n';

/** The text of a page without its last contact. */
export const withoutLast = (text: string): string => text.slice(0, Math.max(0, text.lastIndexOf(BETWEEN)));

/**
 * The most rows of a page, and one more. The number is part of the text, so that the planner expects few
 * rows.
 */
const MOST_ROWS = 101;

/**
 * The indexes that know how texts begin. They hold the ids as well: two hundred rows of the table that lie
 * apart took PostgreSQL 4 ms.
 */
const INDEXED: readonly SearchIndex[] = [
  { key: contacts.emailKey, where: sql`true` },
  ...Object.values(FIELD_INDEXES),
];

const either = (conditions: readonly SQL[]): SQL => sql`(${sql.join([...conditions], sql` or `)})`;

/**
 * The choices of the client are in a separate relation, so that the planner expects the same of every search.
 * PostgreSQL plans a statement again at each call while it expects that the values make it cheaper, and
 * planning this one took 1.2 of 1.6 ms.
 */
const chosen = (name: 'workspace_id' | 'livemode' | 'low' | 'high' | 'rows'): SQL =>
  sql`(select ${sql.raw(name)} from chosen)`;

const OWN_CHOSEN = sql`${contacts.workspaceId} = ${chosen('workspace_id')} and ${contacts.livemode} = ${chosen('livemode')}`;
const BEGIN = either(
  INDEXED.map(({ key }) => sql`${key} >= ${chosen('low')} and ${key} < ${chosen('high')}`),
);
const ARE_MANY = sql`(select many from tally)`;

interface Answer {
  readonly positions: string | null;
  readonly items: string | null;
  readonly stoppedAt: string | null;
}

/** The placeholder of a value: one text serves all values. */
const value = (name: keyof Values) => sql.placeholder(name);

type Values = Record<
  'workspaceId' | 'livemode' | 'limit' | 'below' | 'from' | 'email' | 'after' | 'low' | 'high',
  Parameter
>;

const OWN = ownContacts({ workspaceId: value('workspaceId'), livemode: value('livemode') });

const CHOSEN = sql`chosen as materialized (select ${value('workspaceId')}::text as workspace_id,
  ${value('livemode')}::boolean as livemode, ${value('low')}::text as low, ${value('high')}::text as high,
  ${value('limit')}::integer as rows)`;

const TEXTS = new StatementTexts();
const NOTHING: Answer = { positions: null, items: null, stoppedAt: null };

/** The pages of one list, one statement each. */
export class ContactPages {
  readonly #values: Values;
  readonly #inRange: SQL;
  readonly #conditions: readonly SQL[];
  readonly #key: (typeof ORDERED_BY)[keyof typeof ORDERED_BY];
  readonly #inOrder: SQL;

  constructor(
    private readonly options: PagesOptions,
    private readonly asked: ContactListFilter,
  ) {
    const { scope, range, limit, byEmail } = options;
    const { order } = byEmail ?? range;
    this.#key = byEmail ? ORDERED_BY.email : ORDERED_BY.createdAt;
    this.#inOrder = sql`order by ${this.#key} ${sql.raw(order)}`;
    const after = byEmail?.after ?? null;
    const { workspaceId, livemode } = scope;
    const { audience, email = null, status } = asked;
    const { below, from } = range;
    this.#values = { workspaceId, livemode, limit, below, from, email, after, low: null, high: null };
    const created = [
      ...(below === null ? [] : [lt(contacts.id, value('below'))]),
      ...(from === null ? [] : [gte(contacts.id, value('from'))]),
    ];
    this.#inRange = sql`${and(
      sql`true`,
      ...(byEmail ? [] : created),
      after === null ? undefined : (order === 'asc' ? gt : lt)(contacts.emailKey, value('after')),
    )}`;
    this.#conditions = [
      // In the order of addresses a range of times is a filter like others: a limit behind it would bound
      // what is found, not what is read.
      ...(byEmail ? created : []),
      // A status is written out: its index leaves out the usual one, and a statement that is kept must show
      // that it may be used.
      ...(status === undefined ? [] : [sql`${contacts.status} = ${sql.raw(`'${status}'`)}`]),
      ...(email === null ? [] : [eq(contacts.emailKey, value('email'))]),
      ...(audience ? [audience] : []),
    ];
  }

  /** All contacts that meet the conditions, found by an index. @throws UnavailableError */
  all(): Promise<FoundPage> {
    return this.#read('all', () => ({
      relations: [],
      page: sql`select * from (
        select * from ${contacts} where ${and(OWN, this.#inRange, ...this.#conditions)} ${this.#inOrder} limit ${number(MOST_ROWS)}
      ) contacts limit ${value('limit')}`,
      end: null,
    }));
  }

  /** Those of the first contacts that meet the conditions. @throws UnavailableError */
  among(first: number): Promise<FoundPage> {
    return this.#read(`among ${first}`, () => this.#examined(first, OWN, this.#conditions, []));
  }

  /**
   * Those of the first contacts whose address or name begins with a key, for an order that no index of names
   * has. @throws UnavailableError
   */
  amongBeginning(key: string, first: number): Promise<FoundPage> {
    const chosenKey = { low: key, high: key + ABOVE_ALL };
    return this.#read(
      `beginning among ${first}`,
      () => this.#examined(first, OWN_CHOSEN, [BEGIN, ...this.#conditions], [CHOSEN]),
      chosenKey,
    );
  }

  #examined(first: number, own: SQL, conditions: readonly SQL[], relations: readonly SQL[]): Statement {
    return {
      relations,
      page: sql`${this.#amongFirst(first, own, conditions)} ${this.#inOrder} limit ${value('limit')}`,
      end: sql`case when count(*) < ${value('limit')} then ${this.#nth(first, own)} end`,
    };
  }

  /**
   * Finds contacts whose address or name begins with a key. The indexes name all of them if they are few; if
   * they are many, the first contacts are searched. The same statement counts them in the indexes. @throws
   * UnavailableError
   */
  whoBegin(key: string, newest: number): Promise<FoundPage> {
    const { few } = this.options;
    const chosenKey = { low: key, high: key + ABOVE_ALL };
    return this.#read(`begin ${newest} ${few}`, () => this.#beginning(newest, few), chosenKey);
  }

  #beginning(newest: number, few: number): Statement {
    const others = this.#conditions;
    const hits = INDEXED.map((_, at) => sql.raw(`hits_${at}`));
    const relations = [
      CHOSEN,
      // One more than few shows that they are many, so that half of all contacts cost a thousand entries of
      // an index.
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
        order by id ${sql.raw(this.options.range.order)} limit ${others.length === 0 ? chosen('rows') : number(INDEXED.length * few)})`,
    ];
    const newestOnes = this.#amongFirst(newest, sql`${ARE_MANY} and ${OWN_CHOSEN}`, [BEGIN, ...others]);
    const page = sql`select * from (
      select ${contacts}.* from few join ${contacts} on ${OWN_CHOSEN} and ${contacts.id} = few.id
      where ${and(sql`true`, ...others)}
      union all (select * from (${newestOnes}) contacts ${this.#inOrder} limit ${chosen('rows')})
    ) contacts ${this.#inOrder} limit ${chosen('rows')}`;
    const end = sql`case when ${ARE_MANY} and count(*) < ${chosen('rows')} then ${this.#nth(newest, OWN_CHOSEN)} end`;
    return { relations, page, end };
  }

  /** Counts all that meet the conditions, which an index finds. @throws UnavailableError */
  countAll(): Promise<CountView> {
    const order = this.asked.audience ? sql`` : this.#inOrder;
    return this.#count('count', () => [
      sql`select 1 from ${contacts} where ${and(OWN, this.#inRange, ...this.#conditions)} ${order}`,
      sql`true`,
    ]);
  }

  /** Counts those of the first contacts that meet the conditions. @throws UnavailableError */
  countAmong(): Promise<CountView> {
    return this.#count('count among', () => [
      sql`select * from ${contacts} where ${and(OWN, this.#inRange)} ${this.#inOrder}`,
      sql`${and(sql`true`, ...this.#conditions)}`,
    ]);
  }

  /**
   * Counts those whose address or name begins with a key, among the first that the indexes name. @throws
   * UnavailableError
   */
  countBeginning(key: string): Promise<CountView> {
    const hits = INDEXED.map((each) => sql`(${beginning(each, READ_FOR_COUNT)})`);
    const matching = sql`exists (select from ${contacts} where ${and(OWN_CHOSEN, sql`${contacts.id} = found.id`, this.#inRange, ...this.#conditions)})`;
    return this.#count(
      'count beginning',
      () => [sql`select id from (${sql.join(hits, sql` union `)}) hits`, matching, CHOSEN, 'found'],
      { low: key, high: key + ABOVE_ALL },
    );
  }

  async #count(what: string, make: () => CountParts, key: Partial<Values> = {}): Promise<CountView> {
    const text = (): SQL => {
      const [first, matching, relation, name = 'contacts'] = make();
      return sql`${relation ? sql`with ${relation} ` : sql``}select count(*) filter (where ${matching})::integer as matching,
    count(*)::integer as looked from (${first} limit ${number(READ_FOR_COUNT)}) ${sql.raw(name)}`;
    };
    const form = this.asked.audience ? null : this.#form(what);
    const sent = TEXTS.of(form, { ...this.#values, ...key }, text);
    return countOf(
      (await this.options.reads.query<CountRow>(sent.text, sent.parameters, { isSearch: true }))[0],
    );
  }

  /** Those of the first contacts that pass the gate which meet the conditions. */
  #amongFirst(newest: number, gate: SQL, conditions: readonly SQL[]): SQL {
    return sql`select * from (
      select * from ${contacts} where ${gate} and ${this.#inRange} ${this.#inOrder} limit ${number(newest)}
    ) contacts where ${and(sql`true`, ...conditions)}`;
  }

  #nth(newest: number, own: SQL): SQL {
    return sql`(select ${this.#key} from ${contacts} where ${own} and ${this.#inRange} ${this.#inOrder}
      offset ${number(newest - 1)} limit 1)`;
  }

  async #read(what: string, make: () => Statement, key: Partial<Values> = {}): Promise<FoundPage> {
    const { audience, isKept } = this.asked;
    const form = audience ? null : this.#form(what);
    const { text, parameters } = TEXTS.of(form, { ...this.#values, ...key }, () => this.#pageOf(make()));
    const [answer] = await this.options.reads.query<Answer>(
      text,
      parameters,
      isKept ? { isPage: true } : { isSearch: true },
    );
    const { positions, items, stoppedAt } = answer ?? NOTHING;
    return { positions: positions?.split(BETWEEN) ?? [], text: items ?? '', stoppedAt };
  }

  #pageOf({ relations, page, end }: Statement): SQL {
    const joined = (what: SQL) => sql`string_agg(${what}, ${sql.raw(`E',\\n'`)} ${this.#inOrder})`;
    return sql`with ${sql.join([...relations, sql`page as materialized (${page})`], sql`, `)}
    select ${joined(sql`${this.#key}`)} as positions, ${joined(contactJson)} as items, ${end ?? sql`null::text`} as "stoppedAt" from page contacts`;
  }

  /** Everything that the text of a page depends on, where no audience adds conditions. */
  #form(what: string): string {
    const { range, byEmail } = this.options;
    const { status, email } = this.asked;
    const order = byEmail ? ['email', byEmail.order, byEmail.after !== null] : [range.order];
    return [what, status, email !== undefined, range.below !== null, range.from !== null, ...order].join(' ');
  }
}

/**
 * In the order of the key, which leaves the planner nothing but the index: it would rather walk through the
 * table.
 */
const beginning = (
  { key, where }: SearchIndex,
  most: number,
): SQL => sql`select found.id from chosen cross join lateral (
    select ${contacts.id} from ${contacts}
    where ${contacts.workspaceId} = chosen.workspace_id and ${contacts.livemode} = chosen.livemode and ${where}
      and ${key} >= chosen.low and ${key} < chosen.high
    order by ${key} limit ${number(most)}
  ) found`;

/**
 * The rows that are looked at, the condition of those that count, a relation before both, and the name of the
 * rows.
 */
type CountParts = readonly [SQL, SQL, SQL?, string?];

interface Statement {
  /** The source of the page. */
  readonly relations: readonly SQL[];
  readonly page: SQL;
  /** The id that the search stopped at, over the rows of the page; null where there is nothing to stop at. */
  readonly end: SQL | null;
}

/** A number in the text: for a parameter the planner would expect a tenth of the table. */
const number = (count: number): SQL => sql.raw(String(count));
