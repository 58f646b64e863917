import { type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import { memo, use, useState } from 'react';
import type { LabelLine } from '../../../../../../engine/drawing/arrows.ts';
import type { Box, Point } from '../../../../../../engine/drawing/layout.ts';
import type { Drawing } from '../../../../../../engine/drawing/moves.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { HighlightContext } from './highlight.ts';
import { Line } from './line.tsx';
import { useIsFar } from './state-node.tsx';

/** The data of one line with its label. */
export type LineData = {
  readonly kind: string;
  readonly line: string;
  readonly drawing: Drawing;
  readonly points: readonly Point[];
  readonly label: Box;
  readonly text: readonly LabelLine[];
  readonly live: LiveMachines;
};

/** The line between two states, with its label and dots for the actors that move along it. */
export const MoveLine = memo(function MoveLine({ data }: EdgeProps<Edge<LineData>>) {
  if (!data) return null;
  return <Drawn {...data} />;
});

function Drawn(data: LineData) {
  const { kind, line, label, text } = data;
  const highlight = use(HighlightContext);
  const highlighted = highlight?.kind === kind ? highlight : null;
  const isFar = useIsFar();
  const [isNear, setNear] = useState(false);
  const isTaken = highlighted?.taken.has(line) ?? false;
  // When zoomed out, only the lines that matter show their causes.
  const matters = isNear || highlighted?.current.has(line);
  const shown = isFar ? (matters ? text.filter(({ what }) => what === 'cause') : []) : text;
  return (
    <>
      <Line {...data} isNear={isNear} onNear={setNear} />
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
