import { use, useEffect, useRef, useState } from 'react';
import { linesOfStep } from '../../../../../../engine/drawing/arrows.ts';
import { type Point, pathOf, tipOf } from '../../../../../../engine/drawing/layout.ts';
import type { Drawing } from '../../../../../../engine/drawing/moves.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { HighlightContext } from './highlight.ts';
import styles from './line.css' with { type: 'text' };

// Only pages with a machine load its styles. The policy refuses <style> elements, but accepts sheets created
// by a script.
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);
document.adoptedStyleSheets.push(sheet);

/** One line between two states, and the moves along it. */
export interface LineProps {
  readonly kind: string;
  readonly line: string;
  readonly drawing: Drawing;
  readonly points: readonly Point[];
  readonly live: LiveMachines;
  /** Calls back when the pointer comes to the line or leaves it. */
  readonly onNear?: (isNear: boolean) => void;
  readonly isNear?: boolean;
}

/** Dots on their way along one line at most. */
const MOST_DOTS = 5;

interface Dot {
  readonly key: number;
  readonly radius: number;
}

/** Dots that run along the line whenever actors take it. */
function useDots({ kind, line, drawing, live }: LineProps): readonly Dot[] {
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

/**
 * The line between two states, with dots for the actors that move along it: the picture of an arrow, inside
 * an `<svg>`.
 */
export function Line(props: LineProps) {
  const { kind, line, points, isNear = false, onNear } = props;
  const highlight = use(HighlightContext);
  const highlighted = highlight?.kind === kind ? highlight : null;
  const dots = useDots(props);
  const isTaken = highlighted?.taken.has(line) ?? false;
  const d = pathOf(points);
  const marks = [
    isTaken && 'taken',
    highlighted?.current.has(line) && 'current',
    highlighted && !isTaken && 'aside',
    isNear && 'bright',
    dots.length > 0 && 'flashed',
  ];
  return (
    <g
      className={`line-group ${marks.filter(Boolean).join(' ')}`}
      data-line={line}
      onPointerEnter={() => onNear?.(true)}
      onPointerLeave={() => onNear?.(false)}
    >
      <path d={d} fill="none" stroke="transparent" strokeWidth={14} />
      <path d={d} className="line" />
      <path d={tipOf(points)} className="line-tip" />
      {dots.map(({ key, radius }) => (
        <circle key={key} r={radius} className="dot" style={{ offsetPath: `path("${d}")` }} />
      ))}
    </g>
  );
}
