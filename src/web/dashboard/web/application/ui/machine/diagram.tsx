import { use } from 'react';
import { Link } from 'wouter';
import { arrowId, arrowsOf, START } from '../../../../../../engine/drawing/arrows.ts';
import { type Box, compactName } from '../../../../../../engine/drawing/layout.ts';
import type { DrawnState } from '../../../../../../engine/drawing/moves.ts';
import type { Machine } from '../../../../../live/model.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { HighlightContext } from './highlight.ts';
import { layouts } from './layouts.ts';
import { Line } from './line.tsx';
import { colorOf, type StateColor } from './state-color.ts';

interface DiagramProps {
  readonly machine: Machine;
  readonly live: LiveMachines;
}

/** Room for the halo and the tips of lines beyond the states, in pixels. */
const MARGIN = 18;
const LARGEST = 1.1;

/**
 * A machine as a picture within a page: names and lines, as large as its frame allows. Nothing in it is moved
 * or zoomed, so that it needs no canvas, which takes 130 ms of a slow processor to draw.
 */
export function Diagram({ machine, live }: DiagramProps) {
  const { kind, drawing } = machine;
  const layout = layouts[compactName(drawing.id)];
  if (!layout) return null;
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN];
  const start = layout.states[START];
  return (
    <svg
      viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
      className="absolute inset-0 m-auto size-full"
      style={{ maxWidth: width * LARGEST, maxHeight: height * LARGEST }}
    >
      <title>{drawing.id}</title>
      {arrowsOf(drawing).map((arrow) => {
        const line = layout.lines.find(({ id }) => id === arrowId(arrow.from, arrow.to));
        return (
          line && (
            <Line
              key={arrow.id}
              kind={kind}
              line={arrow.id}
              drawing={drawing}
              points={line.points}
              live={live}
            />
          )
        );
      })}
      {start && (
        <circle
          cx={start.x + start.width / 2}
          cy={start.y + start.height / 2}
          r={5.5}
          strokeWidth={3}
          className="fill-ink stroke-edge-strong"
        />
      )}
      {drawing.states.map((state) => {
        const box = layout.states[state.name];
        return (
          box && (
            <State
              key={state.name}
              kind={kind}
              state={state}
              box={box}
              color={colorOf(machine, state.name)}
              isTransient={machine.transient.includes(state.name)}
            />
          )
        );
      })}
    </svg>
  );
}

interface StateProps {
  readonly kind: string;
  readonly state: DrawnState;
  readonly box: Box;
  readonly color: StateColor;
  readonly isTransient: boolean;
}

/** A state by its name, which leads to the machine with all that it says. */
function State({ kind, state, box, color, isTransient }: StateProps) {
  const highlight = use(HighlightContext);
  const highlighted = highlight?.kind === kind ? highlight : null;
  const isHere = highlighted?.state === state.name;
  const isAside = highlighted !== null && !highlighted.visited.has(state.name) && !isHere;
  const { x, y, width, height } = box;
  const look = isHere
    ? 'stroke-accent fill-raised'
    : `stroke-edge group-hover:stroke-edge-strong ${isAside ? 'fill-page' : 'fill-raised'}`;
  return (
    <Link
      href={`/machines?kind=${kind}&state=${state.name}`}
      data-color={color}
      data-state={state.name}
      aria-current={isHere ? 'step' : undefined}
      className="group outline-none"
    >
      <title>{state.description}</title>
      {isHere && <rect x={x} y={y} width={width} height={height} rx={8} className="here" />}
      <rect
        x={x}
        y={y}
        width={width}
        height={height}
        rx={8}
        strokeDasharray={isTransient ? '4 3' : undefined}
        className={`${look} group-focus-visible:stroke-accent group-focus-visible:stroke-2 motion-safe:transition-[stroke,fill]`}
      />
      {isHere && (
        <rect x={x} y={y} width={width} height={height} rx={8} className="fill-(--state) opacity-12" />
      )}
      <circle
        cx={x + 18}
        cy={y + height / 2}
        r={4}
        className={`fill-(--state) ${isAside ? 'opacity-40' : ''}`}
      />
      <text
        x={x + 32}
        y={y + height / 2}
        dominantBaseline="central"
        className={`font-mono text-[15px] font-semibold ${isAside ? 'fill-dim' : 'fill-ink'}`}
      >
        {state.name}
      </text>
    </Link>
  );
}
