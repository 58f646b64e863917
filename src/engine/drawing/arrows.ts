import type { Drawing, Move } from './moves.ts';

/** All moves from one state to another: one line on the screen. */
export interface Arrow {
  /** `from → to` */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly moves: readonly Move[];
}

/** The arrow to the initial state comes from here. */
export const START = '*';

/** The name of the line between two states. */
export const arrowId = (from: string, to: string): string => `${from} → ${to}`;

/** The lines of a machine. A move that stays in its state is no line: it is shown inside the state. */
export function arrowsOf({ initial, states, moves }: Drawing): readonly Arrow[] {
  const spread = moves.flatMap((move) =>
    move.from === '*'
      ? states
          .filter(({ final }) => !final)
          .map(({ name }) => ({ ...move, from: name, to: move.to === '*' ? name : move.to }))
      : [move],
  );
  const leaving = spread.filter(({ from, to }) => from !== to);
  const groups = Map.groupBy(leaving, ({ from, to }) => arrowId(from, to));
  const start: Arrow = { id: arrowId(START, initial), from: START, to: initial, moves: [] };
  const lines = [...groups].map(([id, group]) => {
    const [{ from, to }] = group as [Move, ...Move[]];
    return { id, from, to, moves: group };
  });
  return [start, ...lines];
}

/** The moves that a state takes without being left, or by being entered again. */
export const stayingIn = ({ moves }: Drawing, state: string): readonly Move[] =>
  moves.filter(({ from, to }) => from === to && (from === state || from === '*'));

/** States that every arrow leaves at once: they are passed through within one step and never stored. */
export const transientStates = ({ states, moves }: Drawing): readonly string[] =>
  states
    .map(({ name }) => name)
    .filter((name) => {
      const leaving = moves.filter(({ from }) => from === name);
      return leaving.length > 0 && leaving.every(({ cause }) => cause === null);
    });

/**
 * The lines that a step followed: one, or several where it passed through states at once. `cause` is the
 * event as the journal has it (`after.lease`); a new actor comes from the start (`from` null). Empty where it
 * stayed.
 */
export function linesOfStep(
  drawing: Drawing,
  { from, to, event }: { readonly from: string | null; readonly to: string; readonly event: string },
): readonly string[] {
  const arrows = arrowsOf(drawing);
  if (from === null)
    return [arrowId(START, drawing.initial), ...(through(drawing.initial, to, arrows, drawing) ?? [])];
  if (from === to) return [];
  const cause = event.replace(/^after\./, 'after ');
  const causes = (arrow: Arrow) => arrow.moves.some((move) => move.cause === cause);
  const straight = arrows.find((arrow) => arrow.from === from && arrow.to === to && causes(arrow));
  if (straight) return [straight.id];
  for (const first of arrows.filter((arrow) => arrow.from === from && causes(arrow))) {
    const rest = through(first.to, to, arrows, drawing);
    if (rest) return [first.id, ...rest];
  }
  return arrows.some(({ id }) => id === arrowId(from, to)) ? [arrowId(from, to)] : [];
}

/** The path over transient states; null when there is none. */
function through(
  from: string,
  to: string,
  arrows: readonly Arrow[],
  drawing: Drawing,
  seen: readonly string[] = [],
): readonly string[] | null {
  if (from === to) return [];
  if (seen.includes(from) || !transientStates(drawing).includes(from)) return null;
  for (const arrow of arrows.filter((one) => one.from === from)) {
    const rest = through(arrow.to, to, arrows, drawing, [...seen, from]);
    if (rest) return [arrow.id, ...rest];
  }
  return null;
}

/** One line of an arrow's label. */
export interface LabelLine {
  readonly text: string;
  readonly what: 'cause' | 'guard';
}

/** A guard longer than this many characters continues in the next line. */
const GUARD_WIDTH = 22;

/** The label of an arrow: each cause once, with its guards as words beneath it. */
export function labelOf({ moves }: Pick<Arrow, 'moves'>): readonly LabelLine[] {
  const byCause = Map.groupBy(moves, ({ cause }) => cause);
  return [...byCause].flatMap(([cause, group]): LabelLine[] => [
    ...(cause === null ? [] : [{ text: cause, what: 'cause' as const }]),
    ...group.flatMap(({ guard }) => (guard === null ? [] : wrapped(`if ${inWords(guard)}`))),
  ]);
}

/** `someRecipientsWait` → `some recipients wait` */
export const inWords = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function wrapped(text: string): LabelLine[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < GUARD_WIDTH)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => ({ text: line, what: 'guard' }));
}
