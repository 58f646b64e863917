import { ownTime } from '../../threads/thread-time.ts';

/** The limits of one rendering. Each is a 422 that says which one was met. */
export const LIQUID_LIMITS = {
  /** Octets of one source: a subject, an html, a markdown, a text. */
  source: 262_144,
  /** Characters of one rendered part, and of any text on the way to it. */
  result: 1_048_576,
  /** Turns of all loops together. */
  turns: 10_000,
  /** Items of a list that a filter takes or makes. */
  items: 1_000,
  /** Blocks within blocks. */
  nesting: 100,
  /** Characters of one tag or output, with its filters. */
  tag: 16_384,
  /** Octets of all variables as JSON. */
  variables: 262_144,
  /** Milliseconds of processor time of one rendering. */
  ms: 95,
} as const;

/** A source or a rendering that is refused. The message is a sentence for the author, with line and column where known. */
export class LiquidProblem extends Error {
  override readonly name = 'LiquidProblem';

  constructor(
    message: string,
    /** Whether other values may render well. */
    readonly dependsOnValues = false,
    /** The part that it was met in. */
    readonly part: 'subject' | 'previewText' | 'html' | 'text' | null = null,
  ) {
    super(message);
  }
}

/** A rendering that took too long. That may be the doing of a busy machine, and so is told apart. */
export class TooSlow extends LiquidProblem {
  constructor() {
    super('Must be simpler: it takes too long to render.');
  }
}

const decimal = new Intl.NumberFormat('en-US');

/** The sentences of the limits that are met while rendering. */
export const LIMIT_SENTENCES = {
  result: `Must make at most ${decimal.format(LIQUID_LIMITS.result)} characters.`,
  turns: `Must make at most ${decimal.format(LIQUID_LIMITS.turns)} turns in its loops, all together.`,
  items: `Must use filters on lists of at most ${decimal.format(LIQUID_LIMITS.items)} items.`,
  tag: `Must have tags of at most ${decimal.format(LIQUID_LIMITS.tag)} characters.`,
  nesting: `Must nest at most ${LIQUID_LIMITS.nesting} blocks.`,
} as const;

/** Throws the problem of a limit that was met. */
export function exceeded(limit: keyof typeof LIMIT_SENTENCES): never {
  throw new LiquidProblem(LIMIT_SENTENCES[limit]);
}

/** A thread that gets no processor is given this many times its time by the clock on the wall. */
export const PATIENCE = 10;

/** What liquidjs asks at every step whether its time is over. The processor is asked only when it may be, since that takes a microsecond. */
export class TimeLimit {
  readonly #begun = performance.now();
  readonly #used = ownTime();
  #looksAt = this.#begun + LIQUID_LIMITS.ms;

  use(): void {}

  check(now: number): void {
    if (now < this.#looksAt) return;
    const left = LIQUID_LIMITS.ms - (ownTime() - this.#used);
    if (left <= 0 || now - this.#begun >= PATIENCE * LIQUID_LIMITS.ms) throw new TooSlow();
    this.#looksAt = now + left;
  }
}

/**
 * What liquidjs counts its allocations with: ranges, replacements, padding. One of them may be as large as a result, and all
 * together sixteen times that, so that a rendering is over before it fills the memory.
 */
export class AllocationCount {
  #left = 16 * LIQUID_LIMITS.result;

  use(count: number): void {
    const size = Number(count);
    // A number that is none comes from a range without bounds; liquidjs makes an empty list of it.
    if (!(size > 0)) return;
    this.#left -= size;
    if (size > LIQUID_LIMITS.result || this.#left < 0) exceeded('result');
  }

  check(): void {}
}
