import { useCallback, useMemo, useRef } from 'react';
import type { Machine } from '../../../../../live/model.ts';
import { useLife, useLive } from '../../api/machines/hooks.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { HighlightContext, highlightOf } from '../../ui/machine/highlight.ts';
import { Canvas } from '../../ui/machine/machine-canvas.tsx';
import { usePlayback } from '../../ui/machine/playback.ts';
import { Scrubber } from '../../ui/machine/scrubber.tsx';
import { countText, titleOf } from '../../ui/machine/words.ts';
import { useIsWide } from '../../ui/room.ts';
import { Activity } from './activity.tsx';
import { type MachineView, useOpenView } from './address.ts';
import { Board, ViewHeader } from './board.tsx';
import { LifePanel } from './life-panel.tsx';
import { StatePanel } from './state-panel.tsx';

/**
 * On a wide window the parts stand beside each other and scroll by themselves; else they follow in one column
 * that scrolls.
 */
const COLUMN = 'scroll flex min-h-0 min-w-0 flex-1 flex-col lg:flex-row lg:overflow-hidden';
const MAIN = 'flex min-w-0 shrink-0 flex-col lg:min-h-0 lg:flex-1 lg:shrink';

interface ViewProps {
  readonly machines: readonly Machine[];
  readonly live: LiveMachines;
  readonly view: MachineView;
}

/** Opens the list of a state's actors. */
function useChoose(): (kind: string, state: string) => void {
  const openView = useOpenView();
  return useCallback((kind, state) => openView({ kind, state }), [openView]);
}

/** The view that the address names: all machines, one machine, the actors of a state, or one life. */
export function Views({ machines, live, view }: ViewProps) {
  const { kind, id } = view;
  const machine = machines.find((one) => one.kind === kind);
  return machine && id !== null ? (
    <LifeView key={id} id={id} machine={machine} live={live} />
  ) : (
    <Overview machines={machines} live={live} view={view} />
  );
}

function Overview({ machines, live, view }: ViewProps) {
  const { kind, state } = view;
  const choose = useChoose();
  const isWide = useIsWide();
  const machine = machines.find((one) => one.kind === kind) ?? null;
  const shown = useMemo(() => (machine ? [machine] : machines), [machine, machines]);
  const chosen = useMemo(() => ({ kind, state }), [kind, state]);
  const total = useTotal(live, machine);
  return (
    <div className={COLUMN}>
      <section className={MAIN} aria-label={machine ? `Machine ${kind}` : 'All machines'}>
        <ViewHeader title={machine ? titleOf(machine.kind) : 'All machines'}>
          {machine ? total : 'Select a state to see its actors'}
        </ViewHeader>
        {machine && isWide && (
          <div className="relative min-h-0 flex-1">
            <Canvas machine={machine} live={live} chosen={chosen} onChoose={choose} />
          </div>
        )}
        {!(machine && isWide) && (isWide || state === null) && (
          <div className="scroll min-h-0 flex-1">
            <Board machines={shown} live={live} />
          </div>
        )}
      </section>
      {machine && state !== null ? (
        <StatePanel key={`${kind} ${state}`} machine={machine} state={state} live={live} />
      ) : (
        <Activity machines={machines} live={live} kind={kind} />
      )}
    </div>
  );
}

/** The number of actors of the machine, in words. */
function useTotal(live: LiveMachines, machine: Machine | null): string {
  const counts = useLive(live, (now) => (machine ? now.counts[machine.kind] : undefined));
  const states = Object.values(counts ?? {});
  const count = states.reduce((sum, one) => sum + one.count, 0);
  return `${countText({ count, exact: states.every(({ exact }) => exact) })} in total`;
}

/** The same object while its value is equal, so that unchanged data is not drawn again. */
function useSteady<Value>(value: Value): Value {
  const kept = useRef(value);
  if (kept.current !== value && JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}

/** One actor: its path on the diagram, its history beside it, and a scrubber beneath. */
function LifeView({
  id,
  machine: ofKind,
  live,
}: {
  readonly id: string;
  readonly machine: Machine;
  readonly live: LiveMachines;
}) {
  const { kind } = ofKind;
  const choose = useChoose();
  const isWide = useIsWide();
  const asked = useLife(live, id);
  const life = asked.value;
  const machine = useSteady(life?.machine ?? ofKind);
  const playback = usePlayback(life?.steps ?? []);
  const chosen = useMemo(() => ({ kind, state: null }), [kind]);
  const highlight = useMemo(
    () => (life && life.steps.length > 0 ? highlightOf(machine.drawing, life, playback.step) : null),
    [machine, life, playback.step],
  );
  return (
    <HighlightContext value={highlight}>
      <div className={COLUMN}>
        <section className={MAIN} aria-label={`Life of ${id}`}>
          <ViewHeader title={titleOf(kind)}>{life?.title}</ViewHeader>
          {isWide && (
            <div className="relative min-h-0 flex-1">
              <Canvas machine={machine} live={live} chosen={chosen} onChoose={choose} />
            </div>
          )}
          {life && life.steps.length > 0 && <Scrubber steps={life.steps} playback={playback} />}
        </section>
        <LifePanel id={id} machine={machine} asked={asked} playback={playback} />
      </div>
    </HighlightContext>
  );
}
