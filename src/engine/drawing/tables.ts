import type { Drawing } from './moves.ts';

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
const table = (heads: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(heads), row(heads.map(() => '---')), ...rows.map(row)].join('\n');

/** Markdown: each state, its meaning, and the effects of entering it. */
export const stateTable = ({ states }: Drawing): string =>
  table(
    ['State', 'Meaning', 'On entry'],
    states.map(({ name, description, final, effects }) => [
      final ? `\`${name}\` (final)` : `\`${name}\``,
      description,
      code(effects),
    ]),
  );

/** Markdown: each arrow. Of several with one cause, the first whose guard holds is taken. */
export const moveTable = ({ moves }: Drawing): string =>
  table(
    ['In', 'When', 'And', 'Then', 'Effects'],
    moves.map(({ from, to, anew, cause, guard, effects }) => [
      from === '*' ? 'any' : `\`${from}\``,
      cause === null ? 'at once' : `\`${cause}\``,
      guard === null ? '' : `\`${guard}\``,
      to === '*' ? 'stays' : `\`${to}\`${anew ? ', re-entered' : ''}`,
      code(effects),
    ]),
  );

/** Markdown: the named delays, or null where there is none. */
export const delayTable = ({ delays }: Drawing): string | null =>
  delays.length === 0
    ? null
    : table(
        ['Delay', 'Length'],
        delays.map(({ name, ms }) => [`\`${name}\``, ms === null ? 'from context and event' : `${ms} ms`]),
      );
