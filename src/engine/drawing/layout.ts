// Positions of the states and arrows of machines on the screen, computed when the dashboard is built.

/** A point, in pixels from the machine's upper left corner. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** The line of one arrow. */
export interface Line {
  /** `from → to` */
  readonly id: string;
  readonly points: readonly Point[];
  readonly label: Box;
}

/** A machine on the screen. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Boxes by state; `*` is the dot at which the arrow to the initial state starts. */
  readonly states: Readonly<Record<string, Box>>;
  readonly lines: readonly Line[];
}

/** All machines, by id. */
export type Layouts = Readonly<Record<string, Layout>>;

/** The name of the layout of a machine that shows names alone. */
export const compactName = (id: string): string => `${id} compact`;

const CORNER = 9;

/** The way through the points, with round corners. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let d = `M${first.x} ${first.y}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    const before = points[index] as Point;
    if (!next) d += `L${point.x} ${point.y}`;
    else {
      const into = towards(point, before);
      const out = towards(point, next);
      d += `L${into.x} ${into.y}Q${point.x} ${point.y} ${out.x} ${out.y}`;
    }
  });
  return d;
}

function towards(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const share = length === 0 ? 0 : Math.min(CORNER, length / 2) / length;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

/** The head of the arrow, at the end of the last stretch. */
export function tipOf(points: readonly Point[]): string {
  const end = points.at(-1);
  const before = points.at(-2);
  if (!end || !before) return '';
  const angle = Math.atan2(end.y - before.y, end.x - before.x);
  const corner = (turn: number) =>
    `${end.x - 8 * Math.cos(angle + turn)} ${end.y - 8 * Math.sin(angle + turn)}`;
  return `M${end.x} ${end.y}L${corner(0.42)}L${corner(-0.42)}Z`;
}
