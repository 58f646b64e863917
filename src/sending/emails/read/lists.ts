import { TOOK_STEP } from '../../../engine/store/history-store.ts';
import { lowestMarkSql } from '../../../engine/store/local-leases-sql.ts';
import { type CountView, countSql, READ_FOR_COUNT, readCount } from '../../../http/lists/count.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import { type BindParameter, Values } from '../../../platform/db/wire/values.ts';
import { emailKind } from '../kind.ts';
import type { Filters } from './filters.ts';
import {
  type EmailItemRow,
  EVERYTHING,
  ITEM,
  type ListOwner,
  latestTurn,
  type Owner,
  ownEmails,
  putSpan,
  type Span,
  STATE_NOW,
  spanOf,
} from './item-statements.ts';

const LOWEST_MARK = `select ${lowestMarkSql(emailKind)} as mark`;

/**
 * Emails lie in one partition a day. The newest days nearly always hold a whole page, and take 0.3 ms; all
 * days of a month take 1.4 ms, most of it for opening them.
 */
const NEAR_MS = 86_400_000;

/**
 * Emails in flight that wait for the clock are found by the index of wake times: they wake within their lease
 * of twelve minutes. The time is that of the service, by which it also writes.
 */
const horizonOf = (now: number): string => new Date(now + 3_600_000).toISOString();

/**
 * Emails that a limit has deferred, or whose test clock rests, wait longer. An index has them by workspace.
 */
const PUT_OFF = `state = 'queued'`;

/** The index of the emails of a state: that of rare final states, or that of waiting ones. */
const PLACES = {
  ended: { table: 'email_turns', id: 'email_id', isByDay: true },
  waiting: { table: 'email_due', id: 'id', isByDay: false },
} as const;

type Place = keyof typeof PLACES;

/**
 * True when so many emails are due, of all workspaces, or put off, of this one, that reading the newest ones
 * finds those in flight as fast.
 */
export async function isCrowded(reads: Reads, owner: Owner, now: number, most: number): Promise<boolean> {
  const beyond = await Promise.all([
    reads.query(
      'select id from email_due where wake_at < $2::timestamptz order by wake_at offset $1::integer limit 1',
      [most, horizonOf(now)],
    ),
    reads.query(
      `select id from email_due where workspace_id = $2 and livemode = $3::boolean and ${PUT_OFF} order by id desc offset $1::integer limit 1`,
      [most, owner.workspaceId, owner.livemode],
    ),
  ]);
  return beyond.some(({ length }) => length > 0);
}

/**
 * The same list of emails, newest or oldest first, begun with the emails by workspace or with those of a
 * state.
 */
export class EmailLists {
  /** All that the list may hold. */
  readonly #all: Span;
  /** The newest of it; all of it where the oldest come first, since nothing tells their day. */
  readonly #near: Span;

  constructor(
    private readonly reads: Reads,
    private readonly owner: ListOwner,
    private readonly filters: Filters,
    private readonly limit: number,
  ) {
    const { from, below } = filters.range;
    this.#all = { from: from ?? EVERYTHING.from, below: below ?? EVERYTHING.below };
    const { order } = filters.range;
    this.#near = order === 'asc' ? this.#all : this.#until(lowestIdAt('em', filters.begins - NEAR_MS));
  }

  /** The first ones, whatever their state. */
  async first(): Promise<readonly EmailItemRow[]> {
    const rows = await this.#first(this.#near, this.limit + 1);
    return rows.length > this.limit || this.#near === this.#all
      ? rows
      : this.#first(this.#all, this.limit + 1);
  }

  /** The matching ones among so many of the first, if they are near. */
  readonly amongFirst = (count: number): Promise<readonly EmailItemRow[]> =>
    this.#first(this.#near, count, { isPage: true });

  /**
   * The matching ones up to that id, or to the end, where about so many lie. They are limited once more, so
   * that they are read in the order of the workspace's own index: planned for its id alone, 10,000 emails of
   * one person were searched among all emails. Twice as many may be there by now, since others are accepted
   * meanwhile.
   */
  readonly firstUntil =
    (most: number) =>
    (last: string | null): Promise<readonly EmailItemRow[]> =>
      this.#first(last === null ? this.#all : this.#until(last), 2 * most, { isPage: true }, true);

  readonly nthOfAll = async (count: number): Promise<string | null> =>
    (await this.#nth(count, this.#near)) ?? (await this.#nth(count, this.#all));

  /** The emails of a state that has a separate index. */
  async inState(place: Place): Promise<readonly EmailItemRow[]> {
    const isByDay = PLACES[place].isByDay && this.#near !== this.#all;
    const near = isByDay ? await this.#idsInState(place, this.#near) : [];
    return this.#itemsOf(near.length > this.limit ? near : await this.#idsInState(place, this.#all));
  }

  readonly inStateUntil = (place: Place) => async (last: string | null) =>
    this.#itemsOf(await this.#idsInState(place, last === null ? this.#all : this.#until(last)));

  readonly nthInState = (place: Place) => async (count: number) => {
    const { put, list } = new Values();
    const { table, id } = PLACES[place];
    const [row] = await this.reads.query<{ id: string }>(
      `select ${id} as id from ${table} where ${this.#isInState(put, place, this.#all)}
order by ${id} ${this.filters.range.order} offset ${put(count - 1)}::integer limit 1`,
      list,
    );
    return row?.id ?? null;
  };

  /** Those that are about to leave: they wait for the clock and are due, or an instance keeps them. */
  async inFlight(most: number): Promise<readonly EmailItemRow[]> {
    const [waiting, kept] = await Promise.all([
      // Its index has all that are queued, whenever they wake.
      this.#idsInState('waiting', this.#all, this.filters.status === 'queued' ? null : this.filters.now),
      this.#keptIds(most),
    ]);
    const ids = [...new Set([...waiting, ...kept])].sort();
    if (this.filters.range.order === 'desc') ids.reverse();
    return this.#itemsOf(ids.slice(0, this.limit + 1));
  }

  /** The matching ones among so many of the newest as a count looks at. */
  count(): Promise<CountView> {
    const { put, list } = new Values();
    const bounds = putSpan(put, this.#all, this.owner);
    const { where, within, order } = ownEmails(put, this.owner, bounds, 'desc');
    const { status } = this.filters;
    const isInState = status === undefined ? 'true' : `${STATE_NOW} = ${put(status)}`;
    const alias = status === undefined ? 'e' : `e ${latestTurn(bounds)}`;
    const matching = `${isInState}${this.#ofEmail(put)}`;
    return readCount(
      this.reads,
      countSql(
        `select * from (select * from emails e where ${where} ${order} limit ${READ_FOR_COUNT}) e where ${within}`,
        alias,
        matching,
      ),
      list,
    );
  }

  /** The matching ones among so many of a state that has a separate index. */
  countInState(place: Place): Promise<CountView> {
    const { put, list } = new Values();
    const { table, id } = PLACES[place];
    const first = `select ${id} from ${table} where ${this.#isInState(put, place, this.#all)} order by ${id} desc`;
    return readCount(this.reads, countSql(first, 's', this.#isAsked(put, id) ?? 'true'), list);
  }

  /** All of the list up to that id, itself included. */
  #until(last: string): Span {
    const isAscending = this.filters.range.order === 'asc';
    return isAscending ? { from: this.#all.from, below: spanOf(last).below } : this.#above(last);
  }

  #above(lowest: string): Span {
    const { from, below } = this.#all;
    return { from: lowest > from ? lowest : from, below };
  }

  #ofEmail(put: BindParameter): string {
    return this.filters.ofEmail.map((condition) => ` and ${condition(put)}`).join('');
  }

  /**
   * The first ones that match, of `examined` emails. Those of another span that follow are examined as well,
   * unless all of the span lie within that number (`isWhole`).
   */
  #first(
    span: Span,
    examined: number,
    options: { readonly isPage?: boolean } = {},
    isWhole = false,
  ): Promise<readonly EmailItemRow[]> {
    const { put, list } = new Values();
    const bounds = putSpan(put, span, this.owner);
    const { where, within, order } = ownEmails(put, this.owner, bounds, this.filters.range.order);
    const { status } = this.filters;
    const isInState = status === undefined ? '' : ` and ${STATE_NOW} = ${put(status)}`;
    const examinable = isWhole ? `${where} and ${within}` : where;
    return this.reads.query<EmailItemRow>(
      `select ${ITEM} from (select * from emails e where ${examinable} ${order} limit ${put(examined)}::integer) e ${latestTurn(bounds)}
where ${within}${isInState}${this.#ofEmail(put)} ${order} limit ${put(this.limit + 1)}::integer`,
      list,
      options,
    );
  }

  async #nth(count: number, span: Span): Promise<string | null> {
    const { put, list } = new Values();
    const { where, within, order } = ownEmails(
      put,
      this.owner,
      putSpan(put, span, this.owner),
      this.filters.range.order,
    );
    const [row] = await this.reads.query<{ id: string }>(
      `select e.id from (
  select e.workspace_id, e.livemode, e.id from emails e where ${where} ${order} offset ${put(count - 1)}::integer limit 1
) e where ${within}`,
      list,
    );
    return row?.id ?? null;
  }

  /**
   * The state is part of the text, since the indexes hold some states only. Counted twice, an email would
   * have a page end before the list does.
   */
  #isInState(put: BindParameter, place: Place, span: Span): string {
    const { id } = PLACES[place];
    const { from, below, workspace } = putSpan(put, span, this.owner);
    return `workspace_id = ${workspace} and livemode = ${put(this.owner.livemode)}::boolean
  and state = '${this.filters.status}' and ${id} >= ${from} and ${id} < ${below}${place === 'ended' ? ` and ${TOOK_STEP}` : ''}`;
  }

  async #idsInState(place: Place, span: Span, inFlightAt: number | null = null): Promise<readonly string[]> {
    const { put, list } = new Values();
    const { table, id } = PLACES[place];
    const isAsked = this.#isAsked(put, id);
    const isInState = this.#isInState(put, place, span);
    // By itself: in the order of their ids, all that wait would be read for those that wake soon.
    const among =
      inFlightAt === null
        ? table
        : `(select * from ${table} where wake_at < ${put(horizonOf(inFlightAt))}::timestamptz and workspace_id = ${put(this.owner.workspaceId)} offset 0)`;
    const rows = await this.reads.query<{ id: string }>(
      `select s.${id} as id from ${among} s where ${isInState}${isAsked === null ? '' : ` and ${isAsked}`}
order by s.${id} ${this.filters.range.order} limit ${put(this.limit + 1)}::integer`,
      list,
      { isSearch: isAsked !== null },
    );
    return rows.map((row) => row.id);
  }

  /**
   * The filters on the email of a row `s`; null without any. A subquery for each email opens the partition of
   * its day alone; a join reads all of them (95 ms of 100,000), and `exists` would be made one.
   */
  #isAsked(put: BindParameter, id: string): string | null {
    if (this.filters.ofEmail.length === 0) return null;
    const workspace = put(this.owner.workspaceId);
    return `(select true from emails e where e.id = s.${id} and e.workspace_id = ${workspace}${this.#ofEmail(put)} limit 1)`;
  }

  /**
   * Reads the emails of ids that were found in the wanted state, which they may have left since: the answer
   * shows the state as it was found.
   */
  async #itemsOf(ids: readonly string[]): Promise<readonly EmailItemRow[]> {
    const [lowest, highest] =
      this.filters.range.order === 'asc' ? [ids[0], ids.at(-1)] : [ids.at(-1), ids[0]];
    if (lowest === undefined || highest === undefined) return [];
    const { put, list } = new Values();
    const bounds = putSpan(put, { from: lowest, below: spanOf(highest).below }, this.owner);
    const rows = await this.reads.query<EmailItemRow>(
      `select ${ITEM} from emails e ${latestTurn(bounds)}
where e.id >= ${bounds.from} and e.id < ${bounds.below} and e.id = any(${put(ids)}::text[]) and e.workspace_id = ${bounds.workspace}
order by e.id ${this.filters.range.order}`,
      list,
    );
    const { status } = this.filters;
    return rows.map((row) => ({ ...row, state: status ?? row.state }));
  }

  /**
   * Those that instances keep, which the clock knows nothing of: they lie above the lowest mark, and have had
   * no turn.
   */
  async #keptIds(most: number): Promise<readonly string[]> {
    const [kept] = await this.reads.query<{ mark: string | null }>(LOWEST_MARK);
    // By its value and not by a subquery, the mark leaves out the partitions of other days before they are
    // opened.
    const mark = kept?.mark;
    if (mark == null) return [];
    const { put, list } = new Values();
    const bounds = putSpan(put, this.#above(mark), this.owner);
    const { where, within, order } = ownEmails(put, this.owner, bounds, this.filters.range.order);
    const { ofEmail, status } = this.filters;
    const rows = await this.reads.query<{ id: string }>(
      `select id from (
  select e.id, e.state, e.kept_by from emails e where ${where} and ${within}${this.#ofEmail(put)} ${order} limit ${put(most)}::integer
) r where r.state = ${put(status ?? '')} and r.kept_by is not null and not exists (
  select from email_turns t where t.email_id = r.id and t.email_id >= ${bounds.from} and t.email_id < ${bounds.below} and t.workspace_id = ${bounds.workspace}
) order by id ${this.filters.range.order} limit ${put(this.limit + 1)}::integer`,
      list,
      { isSearch: ofEmail.length > 0 },
    );
    return rows.map((row) => row.id);
  }
}
