import type { Database, Parameter } from '../../../platform/db/database.ts';
import type { ActorEvent, EventOfKind, Kind, KindName } from '../../machine/kind.ts';
import type { EventResult } from '../../machine/result.ts';
import type { ActorRow } from '../../machine/storage.ts';
import { readColumns } from '../../store/actor-columns.ts';
import type { Column } from '../../store/statements/input-rows.ts';
import { SELECTED_WIDTH } from '../mailbox-lanes.ts';

/** The actors of a kind that an event is for, found by walking along one of the table's indexes. */
export interface Selection {
  /** SQL over the table's alias `a`: the rows to walk. The index should hold these and no others. */
  readonly where: string;
  /** Parameters of `where`, from $1 on. */
  readonly parameters?: readonly Parameter[];
  /** The index's columns, none of them null. The id is added behind them: the index should end with it. */
  readonly along: readonly Column[];
  /**
   * SQL over the alias `p`, which has `id` and the columns of `along`: the reason of the event, or null to
   * skip the actor.
   */
  readonly reason: string;
}

/** Sends an event to all actors of a selection: the engine. */
export interface SelectionTeller {
  /**
   * Sends an event to every actor of the kind that the selection finds; returns the number that it changed.
   * `stop` ends it between two commits, as the engine's own stopping does, and a further call finds the rest.
   * @throws UnavailableError
   */
  tellWhere<Name extends KindName>(
    kind: Name,
    selection: Selection,
    eventFor: (reason: string) => EventOfKind<Name>,
    stop?: AbortSignal,
  ): Promise<number>;
}

/** Rows that one statement reads: 5,000 take it a twentieth of a second, and some megabytes here. */
export const PAGE = 5_000;
/** Events given to the kind at once: those of one commit. */
const CHUNK = 500;

/** The tools of a walk. */
export interface WalkDeps {
  readonly database: Database;
  readonly kind: Kind;
  /** Tells the actor of a row something, provided that it is still as it was read. */
  tell(row: ActorRow, event: ActorEvent): Promise<EventResult>;
  isStopped(): boolean;
}

type WalkRow = ActorRow & { readonly key: string; readonly reason: string | null } & Readonly<
    Record<`k${number}`, string>
  >;

/**
 * Sends each selected actor an event, through its machine and in commits like any other, and returns the
 * number of changed ones. An actor that changes between the look and the commit is left as it is: the reason
 * may no longer hold. Pages are read by key, so that memory is bounded by two pages, no row is read twice and
 * a walk ends however many rows it skips.
 * @throws the error of the first failed event, once those under way have ended
 */
export async function tellSelected(
  deps: WalkDeps,
  selection: Selection,
  eventFor: (reason: string) => ActorEvent,
): Promise<number> {
  const underWay: Promise<ChunkResult>[] = [];
  const total = { changed: 0, failures: [] as unknown[] };
  const settleTo = async (most: number): Promise<void> => {
    while (underWay.length > most) {
      const { changed, failures } = await (underWay.shift() as Promise<ChunkResult>);
      total.changed += changed;
      total.failures.push(...failures);
    }
  };
  const isOver = (): boolean => deps.isStopped() || total.failures.length > 0;
  let next = readPage(deps, selection, []);
  for (let page = await next; page.length > 0 && !isOver(); page = await next) {
    next = page.length < PAGE ? Promise.resolve([]) : readPage(deps, selection, cursorAt(selection, page));
    // Awaited above, unless telling this page fails first.
    next.catch(() => {});
    const chosen = page.filter(({ reason }) => reason !== null);
    for (let from = 0; from < chosen.length && !isOver(); from += CHUNK) {
      await settleTo(SELECTED_WIDTH - 1);
      underWay.push(tellChunk(deps, chosen.slice(from, from + CHUNK), eventFor));
    }
  }
  await settleTo(0);
  if (total.failures.length > 0) throw total.failures[0];
  return total.changed;
}

interface ChunkResult {
  readonly changed: number;
  readonly failures: readonly unknown[];
}

async function tellChunk(
  { tell }: WalkDeps,
  rows: readonly WalkRow[],
  eventFor: (reason: string) => ActorEvent,
): Promise<ChunkResult> {
  const results = await Promise.allSettled(rows.map((row) => tell(row, eventFor(row.reason as string))));
  return {
    changed: results.filter((result) => result.status === 'fulfilled' && result.value.outcome === 'changed')
      .length,
    failures: results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
  };
}

const readPage = (
  { database, kind }: WalkDeps,
  selection: Selection,
  cursor: readonly string[],
): Promise<WalkRow[]> =>
  database.query<WalkRow>(pageStatement(kind, selection, cursor.length > 0), [
    ...(selection.parameters ?? []),
    ...cursor,
  ]);

const cursorAt = ({ along }: Selection, page: readonly WalkRow[]): readonly string[] => {
  const last = page.at(-1) as WalkRow;
  return [...along.map((_, index) => last[`k${index}`] as string), last.key];
};

/**
 * The next page: its keys from the index alone, and only those actors that get the event. The first CTE is a
 * fence: a condition on the reason inside it would let one statement skip any number of rows.
 */
function pageStatement(
  kind: Kind,
  { where, parameters = [], along, reason }: Selection,
  hasCursor: boolean,
): string {
  const names = [...along.map(({ name }) => name), 'id'];
  const keys = names.map((name) => `a.${name}`).join(', ');
  const types = [...along.map(({ type }) => type), 'text'];
  const cursor = types.map((type, index) => `$${parameters.length + 1 + index}::text::${type}`).join(', ');
  return `with page as materialized (
  select ${keys} from ${kind.table} a where ${where}${hasCursor ? ` and (${keys}) > (${cursor})` : ''}
  order by ${keys} limit ${PAGE}
), reasoned as materialized (
  select p.*, (${reason}) as reason from page p
)
select r.id as key, r.reason${along.map(({ name }, index) => `, r.${name}::text as k${index}`).join('')}, ${readColumns(kind)}
from reasoned r left join ${kind.table} a on a.id = r.id and r.reason is not null
order by ${names.map((name) => `r.${name}`).join(', ')}`;
}
