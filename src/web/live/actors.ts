import { type Drawing, draw, isEnd } from '../../engine/drawing/moves.ts';
import { type Kind, stateList } from '../../engine/machine/kind.ts';
import type { Scope } from '../../engine/machine/result.ts';
import type { Explain, LabelSql, OwnDefinitions } from '../../engine/presentation.ts';
import type { StateRelation } from '../../engine/store/actor-store.ts';
import { readLife } from '../../engine/store/actors.ts';
import { storeOf } from '../../engine/store/store-of.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, timeOfId, timePart } from '../../platform/db/ids.ts';
import { indexedStates } from './count-statements.ts';
import { type Label, readLabels } from './labels.ts';
import { ownMachineOf, timedStates } from './machines.ts';
import type { ActorItem, ActorLife, ActorPage } from './model.ts';
import { redacted } from './redact.ts';

const PAGE = 50;

/** The filter of a list of actors. */
export interface ActorFilter {
  readonly state: string | null;
  /** The beginning of an id: at least the whole prefix of the kind. */
  readonly idPrefix: string;
  /** The last id of the previous page. */
  readonly after: string | null;
}

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

/** Reads a page of actors of one kind, newest first. The work is bounded whatever the size of the table. */
export async function actorPage(
  database: Database,
  kind: Kind,
  scope: Scope,
  wanted: ActorFilter,
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
  wanted: ActorFilter,
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
  const most = storeOf(kind).examinedAtOnce;
  const moment = `${kind.idPrefix}_${timePart(0)}`.length;
  const inState = wanted.state === null ? '' : ` and state = ${stateList([wanted.state])}`;
  // The row at which a search stops may belong to another workspace, so the cursor names only its
  // millisecond. The next page begins with that whole millisecond, and this one leaves it out, unless all of
  // its rows are of that millisecond.
  const rows = await database.query<Row & { last: string; whole: boolean; examined: number }>(
    `with near as materialized (
       select id, workspace_id, livemode, state, revision, context, wake_at from ${kind.table}
       where ${within} order by id desc limit ${most}
     )
     select b.last, b.whole, b.examined, a.* from (
       select e.*, e.examined < ${most} or e.latest <= e.edge as whole from (
         select min(id) as last, max(id) as latest, left(min(id), ${moment}) || '~' as edge, count(*)::integer as examined
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
  if (!search || search.examined < most) return pageOf(found, null);
  return pageOf(found, lowestIdAt(kind.idPrefix, timeOfId(search.last) + (search.whole ? 0 : 1)));
}

/**
 * The relation that finds the actors in a state without a search: by an index on the state, or by the one on
 * wake-up times.
 */
async function relationFor(
  database: Database,
  kind: Kind,
  state: string | null,
): Promise<StateRelation | null> {
  if (state === null) return null;
  const indexed = await indexedStates(database, kind);
  return storeOf(kind).inState({
    condition: `state = ${stateList([state])}`,
    isTimed: timedStates(kind).includes(state),
    isIndexed: indexed === 'all' || indexed.has(state),
    limit: PAGE + 1,
  });
}

function pageOf(rows: readonly Row[], stoppedAt: string | null): FoundPage {
  const actors = rows.slice(0, PAGE).map(itemOf);
  if (rows.length > PAGE) return { actors, next: actors.at(-1)?.id ?? null, searchedBackTo: null };
  return { actors, next: stoppedAt, searchedBackTo: stoppedAt === null ? null : timeOfId(stoppedAt) };
}

/**
 * Reads an actor with its history and the explanation of its state; null when the scope has no such actor.
 */
export async function actorLife(
  database: Database,
  kind: Kind,
  scope: Scope,
  id: string,
  {
    explain,
    label,
    definitions,
    now,
  }: {
    readonly explain?: Explain | undefined;
    readonly label?: LabelSql | undefined;
    readonly definitions?: OwnDefinitions | undefined;
    readonly now: number;
  },
): Promise<ActorLife | null> {
  const life = await readLife(database, kind, id, scope);
  if (!life) return null;
  const labelOf = await readLabels(database, kind, label, [id]);
  const machine =
    definitions && life.definitionId !== null
      ? await ownMachineOf(database, kind, definitions, life.definitionId)
      : null;
  const timers = Object.entries(life.timers).map(([timer, at]) => ({
    delay: timer.split('.')[2] ?? timer,
    at,
  }));
  const { attempt } = life.context as { readonly attempt?: number };
  return {
    kind: kind.name,
    id,
    machine,
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
    explanation: (explain ?? brieflyOf(machine?.drawing ?? draw(kind.machine)))(life, now),
  };
}

/** A state whose transitions only lead to itself. */
const LATE_ONLY = 'This state is final. Late events are still recorded.';

/** Explains the actors of a kind without its own explanation, by the descriptions of their machine. */
const brieflyOf =
  (drawing: Drawing): Explain =>
  ({ state, timers, steps }) => {
    const delay = Object.entries(timers).toSorted(([, a], [, b]) => a - b)[0];
    const last = steps.at(-1);
    const isFinal = drawing.states.some(({ name, final }) => name === state && final);
    const stays = isEnd(drawing, state);
    return {
      summary: drawing.states.find(({ name }) => name === state)?.description ?? `The actor is ${state}.`,
      rule: last === undefined ? 'The journal is no longer stored.' : `The event ${last.event} led here.`,
      evidence: [],
      next: delay
        ? { text: `The delay “${delay[0].split('.')[2] ?? delay[0]}” ends.`, at: delay[1] }
        : {
            text: isFinal
              ? 'No further transition is possible.'
              : stays
                ? LATE_ONLY
                : 'Only an event causes the next transition.',
            at: null,
          },
    };
  };
