import type { Drawing, Move } from './moves.ts';

/** A Mermaid `stateDiagram-v2`, which GitHub and most editors show as a picture. */
export function toMermaid({ initial, states, moves }: Drawing): string {
  const arrows = moves.flatMap((move) =>
    originsOf(move, states).map((from) => `${from} --> ${arrowEnd(move, from)}`),
  );
  const ends = states.filter(({ final }) => final).map(({ name }) => `${name} --> [*]`);
  return ['stateDiagram-v2', ...[`[*] --> ${initial}`, ...arrows, ...ends].map((line) => `  ${line}`)].join(
    '\n',
  );
}

/** A move of the machine as a whole starts in each of its living states. */
function originsOf({ from }: Move, states: Drawing['states']): string[] {
  return from === '*' ? states.filter(({ final }) => !final).map(({ name }) => name) : [from];
}

function arrowEnd({ to, cause, guard }: Move, from: string): string {
  const label = [cause, guard && `[${guard}]`].filter(Boolean).join(' ');
  return `${to === '*' ? from : to}${label && `: ${label}`}`;
}
