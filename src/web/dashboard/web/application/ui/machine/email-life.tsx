import { useMemo, useRef } from 'react';
import type { ActorLife, Machine } from '../../../../../live/model.ts';
import { useLife, useLiveMachines } from '../../api/machines/hooks.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { Skeleton } from '../display/states.tsx';
import { useIsNear, useIsWide } from '../room.ts';
import { Diagram } from './diagram.tsx';
import { HighlightContext, highlightOf } from './highlight.ts';
import { usePlayback } from './playback.ts';
import { Scrubber } from './scrubber.tsx';
import { colorOf } from './state-color.ts';

/**
 * The machine of an email with its path, which moves live and can be stepped through; without an email, the
 * idle machine. `height` is a class.
 */
export default function EmailMachine({
  id,
  height,
}: {
  readonly id: string | null;
  readonly height: string;
}) {
  const { live, machines } = useLiveMachines();
  const machine = machines?.find(({ kind }) => kind === 'email');
  if (!machine) return <Skeleton className={height} />;
  return id === null ? (
    <WideDiagram machine={machine} live={live} height={height} />
  ) : (
    <Life key={id} id={id} machine={machine} live={live} height={height} />
  );
}

interface MachineDiagramProps {
  readonly machine: Machine;
  readonly live: LiveMachines;
  readonly height: string;
}

/** A list of the path replaces the diagram where it would be too small to read. */
const WideDiagram = (props: MachineDiagramProps) => useIsWide() && <DiagramInSight {...props} />;

/**
 * The diagram is most of the work of a page that shows it at its end, so that it is drawn once a person comes
 * near.
 */
function DiagramInSight({ machine, live, height }: MachineDiagramProps) {
  const frame = useRef<HTMLDivElement>(null);
  const isNear = useIsNear(frame);
  return (
    <div ref={frame} className={`relative ${height}`}>
      {isNear && <Diagram machine={machine} live={live} />}
    </div>
  );
}

function Life({ id, machine, live, height }: MachineDiagramProps & { readonly id: string }) {
  const { value: life, problem } = useLife(live, id);
  const playback = usePlayback(life?.steps ?? [], false);
  const highlight = useMemo(
    () => (life && life.steps.length > 0 ? highlightOf(machine.drawing, life, playback.step) : null),
    [machine, life, playback.step],
  );
  return (
    <HighlightContext value={highlight}>
      {life && life.steps.length > 0 && <Path life={life} step={playback.step} machine={machine} />}
      <WideDiagram machine={machine} live={live} height={height} />
      {life && life.steps.length > 0 && <Scrubber steps={life.steps} playback={playback} />}
      {problem !== null && <p className="px-5 py-4 text-dim">{problem}</p>}
      {life?.steps.length === 0 && (
        <p className="px-5 py-4 text-dim">The path is no longer stored: its retention has ended.</p>
      )}
    </HighlightContext>
  );
}

/** The states that it went through, the last of them lit. */
function Path(props: { readonly life: ActorLife; readonly step: number; readonly machine: Machine }) {
  const { life, step, machine } = props;
  const states = life.steps
    .slice(0, step + 1)
    .flatMap(({ from, to }, index) => (from === to && index > 0 ? [] : [to]));
  return (
    <ol
      aria-label="States so far"
      className="flex flex-wrap items-center gap-x-2 gap-y-1.5 border-b border-edge px-4 py-2.5"
    >
      {states.map((state, index) => {
        const isHere = index === states.length - 1;
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: a path is only ever added to, and a state may come in it twice
            key={index}
            data-color={colorOf(machine, state)}
            aria-current={isHere ? 'step' : undefined}
            className="flex items-center gap-2 font-mono text-caption"
          >
            {index > 0 && (
              <span aria-hidden="true" className="text-faint">
                →
              </span>
            )}
            <span className={isHere ? 'badge font-mono' : 'text-dim'}>{state}</span>
          </li>
        );
      })}
    </ol>
  );
}
