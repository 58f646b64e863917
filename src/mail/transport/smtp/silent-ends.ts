import type { MonotonicClock } from '../../../platform/time/monotonic.ts';

/** Ends within this time are one moment: a server that is started again ends all its sessions at once. */
const MOMENT_MS = 1_000;
/** Ends that wait to be judged; an older one than so many is forgotten. */
const MOST_ENDS = 64;

/** A session that the other side closed without a word soon after a mail. */
interface SilentEnd {
  readonly mails: number;
  readonly at: number;
}

/**
 * Sessions that the other side closed without a word. They say that a session carries so many mails where
 * others go on, or where it happens again to those that were opened afterwards or a second later; many at one
 * moment say that the server went away. Twice the same number is no chance.
 */
export class SilentEnds {
  #ends: SilentEnd[] = [];
  #counted: number | null = null;

  constructor(
    private readonly monotonic: MonotonicClock,
    /** Called with the mails that a session was found to carry. */
    private readonly spent: (mails: number) => void,
  ) {}

  /** A session was closed after so many mails. */
  ended(mails: number, openedAt: number): void {
    const at = this.monotonic();
    const [former, present] = divided(this.#ends, (end) => end.at <= openedAt || at - end.at > MOMENT_MS);
    const [first] = former;
    // Of one moment one counts, where all say the same.
    if (first !== undefined && former.every((one) => one.mails === first.mails)) {
      this.#count(first.mails);
      if (mails === first.mails) this.#count(mails);
    }
    this.#ends = [...present, { mails, at }].slice(-MOST_ENDS);
  }

  /**
   * The server took a mail over a session that was opened then: those that ended since went while it stayed.
   */
  outlivedBy({ openedAt }: { readonly openedAt: number }): void {
    if (this.#ends.length === 0) return;
    const [went, rest] = divided(this.#ends, ({ at }) => at >= openedAt);
    this.#ends = rest;
    for (const { mails } of went) this.#count(mails);
  }

  #count(mails: number): void {
    if (this.#counted === mails) this.spent(mails);
    this.#counted = mails;
  }
}

const divided = (ends: readonly SilentEnd[], is: (end: SilentEnd) => boolean): [SilentEnd[], SilentEnd[]] => [
  ends.filter(is),
  ends.filter((end) => !is(end)),
];
