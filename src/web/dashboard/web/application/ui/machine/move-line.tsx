import { type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import { memo, use, useEffect, useRef, useState } from 'react';
import { type LabelLine, linesOfStep } from '../../../../../../engine/drawing/arrows.ts';
import { type Box, type Point, pathOf, tipOf } from '../../../../../../engine/drawing/layout.ts';
import type { Drawing } from '../../../../../../engine/drawing/moves.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { HighlightContext } from './highlight.ts';
import { useIsFar } from './state-node.tsx';

/** The data of one line. */
export type LineData = {
  readonly kind: string;
  readonly line: string;
  readonly drawing: Drawing;
  readonly points: readonly Point[];
  readonly label: Box;
  readonly text: readonly LabelLine[];
  readonly live: LiveMachines;
};

/** Dots on their way along one line at most. */
const MOST_DOTS = 5;

interface Dot {
  readonly key: number;
  readonly radius: number;
}

/** Dots that run along the line whenever actors take it. */
function useDots({ kind, line, drawing, live }: LineData): readonly Dot[] {
  const [dots, setDots] = useState<readonly Dot[]>([]);
  const next = useRef(0);
  useEffect(
    () =>
      live.onMove((move) => {
        if (move.kind !== kind || document.hidden || !linesOfStep(drawing, move).includes(line)) return;
        const key = next.current++;
        const radius = 3.5 + Math.min(5, Math.log2(move.times));
        setDots((now) => [...now.slice(1 - MOST_DOTS), { key, radius }]);
        window.setTimeout(() => setDots((now) => now.filter((one) => one.key !== key)), 900);
      }),
    [kind, line, drawing, live],
  );
  return dots;
}

/** The line between two states, with its label and dots for the actors that move along it. */
export const MoveLine = memo(function MoveLine({ data }: EdgeProps<Edge<LineData>>) {
  if (!data) return null;
  return <Drawn {...data} />;
});

function Drawn(data: LineData) {
  const { kind, line, points, label, text } = data;
  const highlight = use(HighlightContext);
  const highlighted = highlight?.kind === kind ? highlight : null;
  const isFar = useIsFar();
  const dots = useDots(data);
  const [isNear, setNear] = useState(false);
  const isTaken = highlighted?.taken.has(line) ?? false;
  // When zoomed out, only the lines that matter show their causes.
  const matters = isNear || highlighted?.current.has(line);
  const shown = isFar ? (matters ? text.filter(({ what }) => what === 'cause') : []) : text;
  const d = pathOf(points);
  const marks = [
    isTaken && 'taken',
    highlighted?.current.has(line) && 'current',
    highlighted && !isTaken && 'aside',
    isNear && 'bright',
    dots.length > 0 && 'flashed',
  ];
  return (
    <>
      <g
        className={`line-group ${marks.filter(Boolean).join(' ')}`}
        data-line={line}
        onPointerEnter={() => setNear(true)}
        onPointerLeave={() => setNear(false)}
      >
        <path d={d} fill="none" stroke="transparent" strokeWidth={14} />
        <path d={d} className="line" />
        <path d={tipOf(points)} className="line-tip" />
        {dots.map(({ key, radius }) => (
          <circle key={key} r={radius} className="dot" style={{ offsetPath: `path("${d}")` }} />
        ))}
      </g>
      {shown.length > 0 && (
        <EdgeLabelRenderer>
          <div
            className={`pointer-events-none absolute flex flex-col items-center justify-center rounded-md bg-page/90 px-1 text-center`}
            style={{
              width: label.width,
              height: label.height,
              transform: `translate(${label.x}px, ${label.y}px)`,
            }}
          >
            {shown.map(({ text: words, what }, index) => (
              <span
                // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a label never change their order.
                key={index}
                className={`block whitespace-nowrap ${isFar ? 'leading-[24px]' : 'leading-[14px]'} ${
                  what === 'cause'
                    ? `font-mono ${isFar ? 'text-[19px] font-semibold' : 'text-[11px]'} ${isNear ? 'text-blue' : isTaken ? 'text-accent' : 'text-dim'}`
                    : 'text-[10.5px] text-faint'
                }`}
              >
                {words}
              </span>
            ))}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
}
