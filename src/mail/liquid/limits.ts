import { ownTime } from '../../platform/threads/thread-time.ts';

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

/**
 * A source or a rendering that is refused. The message is a sentence for the author, with line and column
 * where known.
 */
export class LiquidProblem extends Error {
  override readonly name = 'LiquidProblem';

  constructor(
    message: string,
    /** True when other values may render well. */
    readonly dependsOnValues = false,
    /** The part that it was met in. */
    readonly part: 'subject' | 'previewText' | 'html' | 'text' | null = null,
  ) {
    super(message);
  }
}

/**
 * A rendering that took too much processor time. A send tries it twice, since a processor is slower while
 * others share it.
 */
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

/** The limits of one rendering of all parts. liquidjs checks the time at every step. */
export class Budget {
  readonly #worked = ownTime();
  #looksAt = performance.now() + LIQUID_LIMITS.ms;
  #turns = 0;
  readonly allocations = new AllocationCount();

  use(): void {}

  /**
   * The processor is asked only when the time may be over, since that takes a microsecond: a thread never
   * works longer than time passes.
   */
  check(now: number): void {
    if (now < this.#looksAt) return;
    const left = LIQUID_LIMITS.ms - (ownTime() - this.#worked);
    if (left <= 0) throw new TooSlow();
    this.#looksAt = now + Math.max(1, left);
  }

  countTurn(): void {
    this.#turns++;
    if (this.#turns > LIQUID_LIMITS.turns) exceeded('turns');
  }
}

/**
 * The limit of the allocations that liquidjs counts: ranges, replacements, padding. One of them may be as
 * large as a result, and all together sixteen times that, so that a rendering is over before it fills the
 * memory.
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

/** The register of a context that holds its budget. */
export const BUDGET = 'budget';
/** The register of a context that holds the moment of the rendering, in epoch milliseconds. */
export const NOW = 'now';
/** The register of a context that holds the language of its content. */
export const LANGUAGE = 'language';
/** The registers that a partial shares with the template around it. */
export const SHARED = [BUDGET, NOW, LANGUAGE] as const;
