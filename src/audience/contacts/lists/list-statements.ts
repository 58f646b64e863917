import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { IdRange } from '../../../http/lists/list.ts';
import type { Parameter } from '../../../platform/db/database.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import { contacts, FIELD_INDEXES, type SearchIndex } from '../../../platform/db/schema/contacts.ts';
import { StatementTexts } from '../../../platform/db/server/statement-texts.ts';
import { contactJson, ownContacts, type Scope } from './contact-rows.ts';

/** The contacts of a page, newest first, and what `Found` says of them. */
export interface FoundPage {
  readonly ids: readonly string[];
  /** Their JSON as it is answered, with `BETWEEN` between them. */
  readonly text: string;
  readonly stoppedAt: string | null;
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
  /** One more than a page shows. */
  readonly limit: number;
  /** Up to so many matches of an index are read and sorted; looking through the newest contacts finds more of them faster. */
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
 * The indexes that know how texts begin. They hold the ids as well: two hundred rows of the table that lie apart took PostgreSQL 4 ms.
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
const NEWEST_FIRST = sql`order by ${contacts.id} desc`;

interface Answer {
  readonly ids: string | null;
  readonly items: string | null;
  readonly stoppedAt: string | null;
}

/** The placeholder of a value: one text serves all values. */
const value = (name: keyof Values) => sql.placeholder(name);

type Values = Record<
  'workspaceId' | 'livemode' | 'limit' | 'below' | 'from' | 'email' | 'low' | 'high',
  Parameter
>;

const OWN = ownContacts({ workspaceId: value('workspaceId'), livemode: value('livemode') });

const CHOSEN = sql`chosen as materialized (select ${value('workspaceId')}::text as workspace_id,
  ${value('livemode')}::boolean as livemode, ${value('low')}::text as low, ${value('high')}::text as high,
  ${value('limit')}::integer as rows)`;

const TEXTS = new StatementTexts();
const NOTHING: Answer = { ids: null, items: null, stoppedAt: null };

/** The pages of one list, newest first, one statement each. */
export class ContactPages {
  readonly #values: Values;
  readonly #inRange: SQL;
  readonly #conditions: readonly SQL[];

  constructor(
    private readonly options: PagesOptions,
    private readonly asked: ContactListFilter,
  ) {
    const { scope, range, limit } = options;
    const { workspaceId, livemode } = scope;
    const { audience, email = null, status } = asked;
    this.#values = { workspaceId, livemode, limit, ...range, email, low: null, high: null };
    this.#inRange = sql`${and(
      sql`true`,
      range.below === null ? undefined : lt(contacts.id, value('below')),
      range.from === null ? undefined : gte(contacts.id, value('from')),
    )}`;
    this.#conditions = [
      // A status is written out: its index leaves out the usual one, and a statement that is kept must show that it may be used.
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
        select * from ${contacts} where ${and(OWN, this.#inRange, ...this.#conditions)} ${NEWEST_FIRST} limit ${number(MOST_ROWS)}
      ) contacts limit ${value('limit')}`,
      end: null,
    }));
  }

  /** The newest contacts that meet the conditions. @throws UnavailableError */
  among(newest: number): Promise<FoundPage> {
    return this.#read(`among ${newest}`, () => ({
      relations: [],
      page: sql`${this.#amongNewest(newest, OWN, this.#conditions)} ${NEWEST_FIRST} limit ${value('limit')}`,
      end: sql`case when count(*) < ${value('limit')} then ${this.#nth(newest, OWN)} end`,
    }));
  }

  /**
   * Finds contacts whose address or name begins with a key. The indexes name all of them if they are few; if
   * they are many, the newest contacts are searched. The same statement counts them in the indexes. @throws
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
        order by id desc limit ${others.length === 0 ? chosen('rows') : number(INDEXED.length * few)})`,
    ];
    const newestOnes = this.#amongNewest(newest, sql`${ARE_MANY} and ${OWN_CHOSEN}`, [BEGIN, ...others]);
    const page = sql`select * from (
      select ${contacts}.* from few join ${contacts} on ${OWN_CHOSEN} and ${contacts.id} = few.id
      where ${and(sql`true`, ...others)}
      union all (select * from (${newestOnes}) contacts ${NEWEST_FIRST} limit ${chosen('rows')})
    ) contacts ${NEWEST_FIRST} limit ${chosen('rows')}`;
    const end = sql`case when ${ARE_MANY} and count(*) < ${chosen('rows')} then ${this.#nth(newest, OWN_CHOSEN)} end`;
    return { relations, page, end };
  }

  /** The newest contacts that pass the gate and meet the conditions. */
  #amongNewest(newest: number, gate: SQL, conditions: readonly SQL[]): SQL {
    return sql`select * from (
      select * from ${contacts} where ${gate} and ${this.#inRange} ${NEWEST_FIRST} limit ${number(newest)}
    ) contacts where ${and(sql`true`, ...conditions)}`;
  }

  #nth(newest: number, own: SQL): SQL {
    return sql`(select ${contacts.id} from ${contacts} where ${own} and ${this.#inRange} ${NEWEST_FIRST}
      offset ${number(newest - 1)} limit 1)`;
  }

  async #read(what: string, make: () => Statement, key: Partial<Values> = {}): Promise<FoundPage> {
    const { audience, isKept } = this.asked;
    const form = audience ? null : this.#form(what);
    const { text, parameters } = TEXTS.of(form, { ...this.#values, ...key }, () => pageOf(make()));
    const [answer] = await this.options.reads.query<Answer>(
      text,
      parameters,
      isKept ? { isPage: true } : { isSearch: true },
    );
    const { ids, items, stoppedAt } = answer ?? NOTHING;
    return { ids: ids?.split(BETWEEN) ?? [], text: items ?? '', stoppedAt };
  }

  /** Everything that the text of a page depends on, where no audience adds conditions. */
  #form(what: string): string {
    const { range } = this.options;
    const { status, email } = this.asked;
    return [what, status, email !== undefined, range.below !== null, range.from !== null].join(' ');
  }
}

function pageOf({ relations, page, end }: Statement): SQL {
  const joined = (what: SQL) => sql`string_agg(${what}, ${sql.raw(`E',\\n'`)} ${NEWEST_FIRST})`;
  return sql`with ${sql.join([...relations, sql`page as materialized (${page})`], sql`, `)}
    select ${joined(sql`${contacts.id}`)} as ids, ${joined(contactJson)} as items, ${end ?? sql`null::text`} as "stoppedAt" from page contacts`;
}

/** In the order of the key, which leaves the planner nothing but the index: it would rather walk through the table. */
const beginning = (
  { key, where }: SearchIndex,
  most: number,
): SQL => sql`select found.id from chosen cross join lateral (
    select ${contacts.id} from ${contacts}
    where ${contacts.workspaceId} = chosen.workspace_id and ${contacts.livemode} = chosen.livemode and ${where}
      and ${key} >= chosen.low and ${key} < chosen.high
    order by ${key} limit ${number(most)}
  ) found`;

interface Statement {
  /** The source of the page. */
  readonly relations: readonly SQL[];
  readonly page: SQL;
  /** The id that the search stopped at, over the rows of the page; null where there is nothing to stop at. */
  readonly end: SQL | null;
}

/** A number in the text: for a parameter the planner would expect a tenth of the table. */
const number = (count: number): SQL => sql.raw(String(count));
