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
