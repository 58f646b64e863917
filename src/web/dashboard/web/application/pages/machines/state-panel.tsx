import { useEffect, useState } from 'react';
import type { ActorItem, Machine } from '../../../../../live/model.ts';
import { useActors, useLive } from '../../api/machines/hooks.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { shortAgo, spanText, timeText } from '../../ui/display/format.ts';
import { useNow } from '../../ui/display/time.tsx';
import { icons } from '../../ui/icons.tsx';
import { colorOf } from '../../ui/machine/state-color.ts';
import { countText, shortId } from '../../ui/machine/words.ts';
import { useOpenView } from './address.ts';
import { Loading, Panel, Quiet } from './panel.tsx';

/** `id:em_01` in place of a state lists ids with this prefix. */
const SEARCH = 'id:';

/** The actors of a state, or those with an id prefix, newest first. */
export function StatePanel({
  machine,
  state,
  live,
}: {
  readonly machine: Machine;
  readonly state: string;
  readonly live: LiveMachines;
}) {
  const openView = useOpenView();
  const { kind, drawing } = machine;
  const search = state.startsWith(SEARCH) ? state.slice(SEARCH.length) : null;
  const count = useLive(live, (now) => (search === null ? (now.counts[kind]?.[state]?.count ?? 0) : 0));
  const version = useCalm(count);
  const listed = useActors({ kind, state: search === null ? state : null, id: search }, version);
  const now = useNow(1_000);
  const drawn = drawing.states.find(({ name }) => name === state);
  return (
    <Panel
      label={search === null ? `Actors in ${state}` : `Actors whose ID begins with ${search}`}
      onClose={() => openView({ kind })}
      head={
        search === null ? (
          <>
            <h2
              data-color={colorOf(machine, state)}
              className="flex items-center gap-2 font-mono text-[14px] font-semibold"
            >
              <span className="size-2 rounded-full bg-(--state)" />
              {state}
              <span className="num ml-auto font-sans">{countText(live.count(kind, state))}</span>
            </h2>
            <p className="mt-1 text-[12px] text-dim">
              {drawn?.description ?? 'This machine has no such state.'}
            </p>
          </>
        ) : (
          <h2 className="truncate font-mono text-[13px] font-semibold">{search}…</h2>
        )
      }
    >
      <Actors machine={machine} actors={listed.actors} now={now} showsState={search !== null} />
      {listed.actors.length === 0 && listed.isLoading && <Loading />}
      {listed.problem !== null && <Quiet title={listed.problem} />}
      {listed.actors.length === 0 && !listed.isLoading && listed.problem === null && !listed.hasMore && (
        <Quiet title={search === null ? 'No actors in this state' : 'No matching IDs'}>
          {search === null
            ? 'New actors appear automatically.'
            : 'IDs of the other environment are not found here.'}
        </Quiet>
      )}
      {listed.hasMore && (
        <div className="p-4 text-center">
          {listed.searchedBackTo !== null && (
            <p className="mb-2 text-[12px] text-faint">
              Searched back to {timeText(listed.searchedBackTo, now)}.
            </p>
          )}
          <button
            type="button"
            onClick={listed.more}
            disabled={listed.isLoading}
            className="rounded-lg border border-edge-strong px-4 py-1.5 font-medium hover:bg-hover disabled:opacity-60"
          >
            {listed.isLoading
              ? 'Loading…'
              : listed.searchedBackTo === null
                ? 'Show more'
                : 'Search further back'}
          </button>
        </div>
      )}
    </Panel>
  );
}

function Actors(props: {
  readonly machine: Machine;
  readonly actors: readonly ActorItem[];
  readonly now: number;
  readonly showsState: boolean;
}) {
  const { machine, actors, now, showsState } = props;
  const openView = useOpenView();
  return (
    <ul className={actors.length > 0 ? 'py-1.5' : ''}>
      {actors.map((actor) => (
        <li key={actor.id}>
          <button
            type="button"
            data-actor={actor.id}
            onClick={() => openView({ kind: machine.kind, id: actor.id })}
            title={actor.id}
            className="block w-full px-4 py-2 text-left hover:bg-hover"
          >
            <span className="flex items-baseline justify-between gap-2">
              <span className="flex min-w-0 items-baseline gap-2">
                {actor.title !== null && (
                  <span className="truncate text-[13px] font-medium">{actor.title}</span>
                )}
                <span
                  className={`shrink-0 font-mono ${actor.title === null ? 'text-[12.5px]' : 'text-[11px] text-faint'}`}
                >
                  {shortId(actor.id)}
                </span>
              </span>
              <time className="num shrink-0 text-[11.5px] text-faint">{shortAgo(actor.createdAt, now)}</time>
            </span>
            <span className="mt-0.5 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-[12px] text-dim">
              {showsState && (
                <span data-color={colorOf(machine, actor.state)} className="state-text font-mono">
                  {actor.state}
                </span>
              )}
              {actor.wakeAt !== null && (
                <span className="num flex items-center gap-1 [&>svg]:size-3">
                  {icons.Clock}
                  {actor.wakeAt > now ? `in ${spanText(actor.wakeAt - now)}` : 'due'}
                </span>
              )}
              {actor.attempt !== null && actor.attempt > 1 && <span>attempt {actor.attempt}</span>}
              {actor.facts.map((fact) => (
                <span key={fact}>{fact}</span>
              ))}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A number that rises when the value has changed, at most every two seconds: lists must not dance. */
function useCalm(value: number): number {
  const [version, setVersion] = useState(0);
  const [seen, setSeen] = useState(value);
  useEffect(() => {
    if (seen === value) return;
    const timer = window.setTimeout(() => {
      setSeen(value);
      setVersion((now) => now + 1);
    }, 2_000);
    return () => window.clearTimeout(timer);
  }, [seen, value]);
  return version;
}
