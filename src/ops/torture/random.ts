/** Random numbers that repeat for the same seed. */
export interface RandomSource {
  /** A number from 0 to below 1. */
  next(): number;
  /** An integer between both bounds, inclusive. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
}

/** The generator mulberry32, whose 32 bits of state are enough to choose faults. */
export function randomFrom(seed: number): RandomSource {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
  };
}
