import { formOf } from '../../scripts/sql/pages.ts';
import type { Kind } from '../../src/engine/machine/kind.ts';
import type { BatchStatement } from '../../src/engine/store/statements/statement-parts.ts';
import { wakeWriting } from '../../src/engine/store/statements/wake-at.ts';
import { storeOf } from '../../src/engine/store/store-of.ts';
import { systemClock } from '../../src/platform/time/clock.ts';

/** A clock that the database's is compared with, and one that it is not: they write `wake_at` differently. */
export const CLOCKS = [
  systemClock,
  { ...systemClock, agreement: { skewMs: 0, machineSkewMs: 0, agrees: true } },
];

/**
 * The statements of a kind, each made again: of one statement only the first few forms differ from the whole.
 */
const STATEMENTS = CLOCKS.flatMap(
  (clock): readonly ((kind: Kind, isDistributed: boolean) => BatchStatement)[] => {
    const wake = wakeWriting(clock);
    return [
      (kind, isDistributed) => storeOf(kind).insert(wake, { isDistributed }),
      (kind, isDistributed) => storeOf(kind).commit(wake, { isDistributed }),
      (kind, isDistributed) => storeOf(kind).commit(wake, { isContended: true, isDistributed }),
      // Listeners are asked for on one server.
      (kind, isDistributed) => storeOf(kind).commit(wake, { isUnheard: !isDistributed, isDistributed }),
      (kind, isDistributed) =>
        storeOf(kind).commit(wake, { isContended: true, isUnheard: !isDistributed, isDistributed }),
    ];
  },
);

/** Which parts batches are made to need: none, each by itself, all but one, all. */
function needs(names: readonly string[]): readonly (readonly string[])[] {
  const all = [
    [],
    ...names.map((name) => [name]),
    ...names.map((name) => names.filter((n) => n !== name)),
    names,
  ];
  return [...new Map(all.map((some) => [some.join(), some])).values()];
}

/** The least and the most that batches need: together they have everything that any form has. */
const ends = (names: readonly string[]): readonly (readonly string[])[] => [[], names];

/**
 * The SQL of every form of the statements that write actors of a kind, or of the least and the fullest ones.
 */
export function formsOf(
  kind: Kind,
  which: 'every' | 'ends' = 'every',
  isDistributed = false,
): readonly string[] {
  const chosen = which === 'every' ? needs : ends;
  const forms = STATEMENTS.flatMap((make) =>
    chosen(make(kind, isDistributed).parts.map(({ name }) => name)).map((needed) =>
      formOf(kind, make(kind, isDistributed), (part) => needed.includes(part)),
    ),
  );
  return [...new Set(forms)];
}
