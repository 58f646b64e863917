import { type Arrow, arrowsOf, START } from './arrows.ts';
import type { Box, Layout, Line, Point } from './layout.ts';
import { type Drawing, isEnd } from './moves.ts';

// The positions of machines that no build knows, such as those of flows: plain, and the same each time.

const CARD = { width: 212, height: 110 } as const;
const DOT = 14;
const GAP = { x: 48, y: 84 } as const;
/** The room beside the cards for lines that go back up. */
const LANE = 18;
const LABEL = { width: 120, height: 16 } as const;

/** Lays a machine out in rows: each state beneath the one that first leads to it, and the ends last. */
export function layeredLayout(drawing: Drawing): Layout {
  const arrows = arrowsOf(drawing).filter((arrow) => !isCommon(drawing, arrow));
  const rows = rowsOf(drawing, arrows);
  const inner = Math.max(...rows.map((row) => row.length * (CARD.width + GAP.x) - GAP.x));
  const states: Record<string, Box> = {};
  rows.forEach((row, depth) => {
    const left = (inner - (row.length * (CARD.width + GAP.x) - GAP.x)) / 2;
    row.forEach((name, place) => {
      const x = left + place * (CARD.width + GAP.x);
      states[name] = { x, y: DOT + GAP.y + depth * (CARD.height + GAP.y), ...CARD };
    });
  });
  states[START] = { x: inner / 2 - DOT / 2, y: 0, width: DOT, height: DOT };
  const back = arrows.filter(({ from, to }) => top(states, from) >= top(states, to));
  const lines = arrows.map((arrow) => lineOf(arrow, states, inner + LANE * (1 + back.indexOf(arrow))));
  const height = DOT + GAP.y + rows.length * (CARD.height + GAP.y);
  return { width: inner + LANE * (back.length + 1) + LABEL.width, height, states, lines };
}

/**
 * Moves that most states make alike hide the differences between them: the machine lists them, and the
 * drawing has no line for them.
 */
function isCommon(drawing: Drawing, { from, to, moves: own }: Arrow): boolean {
  if (from === START) return false;
  const { states, moves } = drawing;
  const open = states.filter(({ name }) => !isEnd(drawing, name)).length;
  const isShared = (cause: string | null) =>
    new Set(moves.filter((move) => move.to === to && move.cause === cause).map((move) => move.from)).size;
  return open > 2 && own.every(({ cause }) => cause !== null && isShared(cause) * 2 > open);
}

/**
 * The states by their distance from the beginning. States that no arrow leads to, and final states, have rows
 * apart.
 */
function rowsOf(drawing: Drawing, arrows: readonly Arrow[]): readonly (readonly string[])[] {
  const { initial, states } = drawing;
  const ends = new Set(states.map(({ name }) => name).filter((name) => isEnd(drawing, name)));
  const depths = new Map([[initial, 0]]);
  for (const from of depths.keys())
    for (const arrow of arrows)
      if (arrow.from === from && !depths.has(arrow.to) && !ends.has(arrow.to))
        depths.set(arrow.to, (depths.get(from) ?? 0) + 1);
  const rows: string[][] = [];
  for (const [name, depth] of depths) {
    rows[depth] ??= [];
    rows[depth].push(name);
  }
  const aside = states.map(({ name }) => name).filter((name) => !depths.has(name) && !ends.has(name));
  return [...rows, aside, [...ends]].filter((row) => row.length > 0);
}

const top = (states: Readonly<Record<string, Box>>, name: string): number => states[name]?.y ?? 0;

/** Straight from card to card; what goes back up, or stays in its row, goes round by the right. */
function lineOf({ id, from, to }: Arrow, states: Readonly<Record<string, Box>>, lane: number): Line {
  const [start, end] = [states[from] as Box, states[to] as Box];
  const points: readonly Point[] =
    start.y < end.y
      ? [
          { x: start.x + start.width / 2, y: start.y + start.height },
          { x: end.x + end.width / 2, y: end.y },
        ]
      : [
          { x: start.x + start.width, y: start.y + start.height / 2 },
          { x: lane, y: start.y + start.height / 2 },
          { x: lane, y: end.y + end.height / 2 },
          { x: end.x + end.width, y: end.y + end.height / 2 },
        ];
  const [a, b] = [points.at(-2) as Point, points.at(-1) as Point];
  const label = {
    x: (a.x + b.x) / 2 - LABEL.width / 2,
    y: (a.y + b.y) / 2 - LABEL.height / 2,
    ...LABEL,
  };
  return { id, points, label };
}
