import type { Database } from '../../db/database.ts';
import { lowestIdAt, timeOfId, timePart } from '../../db/ids.ts';
import { draw } from '../../drawing/moves.ts';
import { type ActorHistory, readLife } from '../../engine/history.ts';
import { type Kind, stateList } from '../../engine/kind.ts';
import type { Scope } from '../../engine/result.ts';
import { indexedStates } from './count-statements.ts';
import { type Label, type LabelSql, readLabels } from './labels.ts';
import { timedStates } from './machines.ts';
import type { ActorItem, ActorLife, ActorPage, Explanation } from './model.ts';
import { redacted } from './redact.ts';

const PAGE = 50;
/** Rows that a search without a fitting index looks at before it says how far it came (about 20 ms). */
const LOOKED_AT = 20_000;

/** Which actors are asked for. */
export interface Wanted {
  readonly state: string | null;
  /** The beginning of an id; the whole prefix of the kind at least. */
  readonly idPrefix: string;
  /** The last id of the page before. */
  readonly after: string | null;
}

/** Explains an actor of one kind from its life. */
export type Explain = (life: ActorHistory, now: number) => Explanation;

interface Row {
  readonly id: string;
  readonly state: string;
  readonly revision: number;
  readonly attempt: number | null;
  readonly wake_at: number | null;
}

const COLUMNS = `id, state, revision, (context->>'attempt')::integer as attempt,
  (extract(epoch from wake_at) * 1000)::float8 as wake_at`;

const itemOf = ({ id, state, revision, attempt, wake_at }: Row): Omit<ActorItem, keyof Label> => ({
  id,
  state,
  revision,
  attempt,
  createdAt: timeOfId(id),
  wakeAt: wake_at,
});

/** Actors without their labels. */
type FoundPage = Omit<ActorPage, 'actors'> & { readonly actors: readonly Omit<ActorItem, keyof Label>[] };

/** Actors of one kind, newest first. The work is bounded whatever the size of the table. */
export async function actorPage(
  database: Database,
  kind: Kind,
  scope: Scope,
  wanted: Wanted,
  label?: LabelSql,
): Promise<ActorPage> {
  const page = await findActors(database, kind, scope, wanted);
  const ids = page.actors.map(({ id }) => id);
  const labelOf = await readLabels(database, kind, label, ids);
  return { ...page, actors: page.actors.map((actor) => ({ ...actor, ...labelOf(actor.id) })) };
}

async function findActors(
  database: Database,
  kind: Kind,
  { workspaceId, livemode }: Scope,
  wanted: Wanted,
): Promise<FoundPage> {
  const below = wanted.after ?? `${wanted.idPrefix}~`;
  const parameters = [workspaceId, livemode, below, wanted.idPrefix];
  const within = 'id < $3 and id >= $4';
  const own = 'workspace_id = $1 and livemode = $2';
  const relation = await relationFor(database, kind, wanted.state);
  if (relation !== null) {
    const rows = await database.query<Row>(
      `${relation.cte} select ${COLUMNS} from ${relation.name} a where ${relation.condition} and ${own} and ${within}
       order by id desc limit ${PAGE + 1}`,
      parameters,
    );
    return pageOf(rows, null);
  }
  const moment = `${kind.idPrefix}_${timePart(0)}`.length;
  const inState = wanted.state === null ? '' : ` and state = ${stateList([wanted.state])}`;
  // Where a search stops tells only a moment, since the row it stopped at may be anybody's. So that the next page can begin at
  // that moment, this one leaves the whole millisecond to it, unless it has seen nothing but that millisecond.
  const rows = await database.query<Row & { last: string; whole: boolean; looked_at: number }>(
    `with near as materialized (
       select id, workspace_id, livemode, state, revision, context, wake_at from ${kind.table}
       where ${within} order by id desc limit ${LOOKED_AT}
     )
     select b.last, b.whole, b.looked_at, a.* from (
       select e.*, e.looked_at < ${LOOKED_AT} or e.latest <= e.edge as whole from (
         select min(id) as last, max(id) as latest, left(min(id), ${moment}) || '~' as edge, count(*)::integer as looked_at
         from near
       ) e
     ) b
     left join lateral (
       select ${COLUMNS} from near where ${own}${inState} and (b.whole or id > b.edge) order by id desc limit ${PAGE + 1}
     ) a on true`,
    parameters,
  );
  const found = rows.filter(({ id }) => id !== null);
  const [search] = rows;
  if (!search || search.looked_at < LOOKED_AT) return pageOf(found, null);
  return pageOf(found, lowestIdAt(kind.idPrefix, timeOfId(search.last) + (search.whole ? 0 : 1)));
}

/** A way to a state that needs no search: an index of its own, or the one of whoever waits for the clock. */
async function relationFor(
  database: Database,
  kind: Kind,
  state: string | null,
): Promise<{ readonly cte: string; readonly name: string; readonly condition: string } | null> {
  if (state === null) return null;
  const condition = `state = ${stateList([state])}`;
  const indexed = await indexedStates(database, kind);
  if (indexed === 'all' || indexed.has(state)) return { cte: '', name: kind.table, condition };
  if (!timedStates(draw(kind.machine)).includes(state)) return null;
  const waiting = `select * from ${kind.table} where wake_at is not null and ${condition} limit ${LOOKED_AT}`;
  return { cte: `with waiting as materialized (${waiting})`, name: 'waiting', condition };
}

function pageOf(rows: readonly Row[], stoppedAt: string | null): FoundPage {
  const actors = rows.slice(0, PAGE).map(itemOf);
  if (rows.length > PAGE) return { actors, next: actors.at(-1)?.id ?? null, searchedBackTo: null };
  return { actors, next: stoppedAt, searchedBackTo: stoppedAt === null ? null : timeOfId(stoppedAt) };
}

/** One actor with its journal and why it is where it is; null where the scope has none. */
export async function actorLife(
  database: Database,
  kind: Kind,
  scope: Scope,
  id: string,
  {
    explain = brieflyOf(kind),
    label,
    now,
  }: {
    readonly explain?: Explain | undefined;
    readonly label?: LabelSql | undefined;
    readonly now: number;
  },
): Promise<ActorLife | null> {
  const life = await readLife(database, kind, id, scope);
  if (!life) return null;
  const labelOf = await readLabels(database, kind, label, [id]);
  const timers = Object.entries(life.timers).map(([timer, at]) => ({
    delay: timer.split('.')[2] ?? timer,
    at,
  }));
  const { attempt } = life.context as { readonly attempt?: number };
  return {
    kind: kind.name,
    id,
    ...labelOf(id),
    state: life.state,
    revision: life.revision,
    attempt: attempt ?? null,
    createdAt: timeOfId(id),
    wakeAt: timers.length === 0 ? null : Math.min(...timers.map(({ at }) => at)),
    context: redacted(life.context),
    timers: timers.toSorted((a, b) => a.at - b.at),
    steps: life.steps,
    truncated: life.truncated,
    explanation: explain(life, now),
  };
}

/** For a kind that has nobody to explain it: what its machine says of the state. */
const brieflyOf =
  ({ machine }: Kind): Explain =>
  ({ state, timers, steps }) => {
    const drawing = draw(machine);
    const delay = Object.entries(timers).toSorted(([, a], [, b]) => a - b)[0];
    const last = steps.at(-1);
    const isFinal = drawing.states.some(({ name, final }) => name === state && final);
    return {
      summary: drawing.states.find(({ name }) => name === state)?.description ?? `It is ${state}.`,
      rule: last === undefined ? 'Its journal is gone.' : `It came here by ${last.event}.`,
      evidence: [],
      next: delay
        ? { text: `The delay “${delay[0].split('.')[2] ?? delay[0]}” ends.`, at: delay[1] }
        : { text: isFinal ? 'Nothing more can happen.' : 'Only an event moves it on.', at: null },
    };
  };
