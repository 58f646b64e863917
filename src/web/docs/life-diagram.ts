import { emailMachine } from '../../../machines/email/machine.ts';
import { draw, type Move } from '../../engine/drawing/moves.ts';

const WIDTH = 132;
const HEIGHT = 40;

/**
 * The positions of the states, with time running to the right. The test of the page fails for a state that is
 * missing here.
 */
const POSITIONS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  accepted: [80, 150],
  scheduled: [270, 50],
  queued: [270, 250],
  sending: [450, 150],
  cancelled: [450, 50],
  deferred: [450, 290],
  gaveUp: [620, 290],
  sent: [640, 150],
  delivered: [830, 80],
  failed: [830, 250],
};

const COLORS: Readonly<Record<string, string>> = {
  delivered: 'var(--color-green)',
  failed: 'var(--color-red)',
  cancelled: 'var(--color-grey)',
};

/** Draws the states and transitions of the email machine from the machine itself. */
export function lifeDiagram(): string {
  const { states, moves } = draw(emailMachine);
  const pairs = Map.groupBy(
    moves.filter(({ from, to }) => from !== to && from !== '*'),
    ({ from, to }) => `${from} ${to}`,
  );
  const arrows = [...pairs.values()].map(arrow).join('');
  const boxes = states.map(({ name, description }) => box(name, description ?? '')).join('');
  return `<svg viewBox="0 0 920 330" width="100%" role="img" aria-label="The states of an email and the transitions between them" font-family="inherit" font-size="15">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>
${arrows}${boxes}</svg>`;
}

function positionOf(state: string): readonly [number, number] {
  const position = POSITIONS[state];
  if (!position) throw new Error(`The diagram has no position for the state ${state}.`);
  return position;
}

function box(name: string, description: string): string {
  const [x, y] = positionOf(name);
  const color = COLORS[name] ?? 'currentColor';
  return `<g><title>${Bun.escapeHTML(description)}</title><rect x="${x - WIDTH / 2}" y="${y - HEIGHT / 2}" width="${WIDTH}" height="${HEIGHT}" rx="8" fill="none" stroke="${color}" stroke-width="1.5"/><text x="${x}" y="${y + 5}" text-anchor="middle" fill="${color}">${name}</text></g>
`;
}

/**
 * Draws one line for all transitions between two states, curved so that opposite directions are two lines.
 */
function arrow(moves: readonly Move[]): string {
  const [{ from, to }] = moves as readonly [Move];
  const [start, end] = [positionOf(from), positionOf(to)];
  const [ax, ay] = border(start, end);
  const [bx, by] = border(end, start);
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const bend = 16;
  const cx = (ax + bx) / 2 - ((by - ay) / length) * bend;
  const cy = (ay + by) / 2 + ((bx - ax) / length) * bend;
  const causes = moves.map(({ cause, guard }) => [cause, guard && `[${guard}]`].filter(Boolean).join(' '));
  const numbers = [ax, ay, cx, cy, bx, by].map((value) => Math.round(value));
  const [x1, y1, x2, y2, x3, y3] = numbers;
  return `<path d="M${x1} ${y1}Q${x2} ${y2} ${x3} ${y3}" fill="none" stroke="currentColor" stroke-opacity="0.55" marker-end="url(#tip)"><title>${Bun.escapeHTML(`${from} → ${to}: ${causes.join('; ')}`)}</title></path>
`;
}

/** The point at which the line between the centres of two boxes leaves the first. */
function border(
  [x, y]: readonly [number, number],
  [tx, ty]: readonly [number, number],
): readonly [number, number] {
  const dx = tx - x;
  const dy = ty - y;
  const scale = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : WIDTH / 2 / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : HEIGHT / 2 / Math.abs(dy),
  );
  return [x + dx * scale, y + dy * scale];
}
