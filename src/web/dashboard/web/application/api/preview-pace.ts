/** The pause after a change that comes alone, such as a paste, and after the last one of several. */
const SHORTEST_MS = 60;
const LONGEST_MS = 150;
/**
 * A change after so long begins another burst: a person who types that slowly would have a request for each
 * key after any pause.
 */
const REST_MS = 200;
/** A key that comes later than this part of the usual time between two keys is not waited for. */
const LATE = 1.5;

/**
 * The pause between a change and the request for its preview. The preview follows within 300 ms of the last
 * change, whose rendering takes a part of that; while keys come one after the other, a request for each would
 * be in vain. Once half of the previews are used that the service allows in its window, the others are spread
 * over the rest of it, so that none is refused until its end.
 */
export class PreviewPace {
  #changedAt = Number.NEGATIVE_INFINITY;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** The usual time between two changes of this burst; 0 at its beginning. */
  #rhythm = 0;
  #limit = Number.POSITIVE_INFINITY;
  #remaining = Number.POSITIVE_INFINITY;
  #endsAt = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Hears of a change, and answers the milliseconds until the preview is to be asked for, unless another one
   * follows.
   */
  readonly changed = (): number => {
    const now = this.now();
    const since = now - this.#changedAt;
    this.#changedAt = now;
    if (since >= REST_MS) this.#rhythm = 0;
    else this.#rhythm = this.#rhythm === 0 ? since : (this.#rhythm + since) / 2;
    const pause = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, LATE * this.#rhythm));
    return Math.max(pause, this.#heldBack(now));
  };

  readonly sending = (): void => {
    this.#sentAt = this.now();
    this.#remaining--;
  };

  /** Hears of the limit from the headers of an answer, a refusal among them. */
  readonly heard = (headers: Pick<Headers, 'get'>): void => {
    const [limit, remaining, seconds] = ['limit', 'remaining', 'reset'].map((name) =>
      Number.parseInt(headers.get(`x-ratelimit-${name}`) ?? '', 10),
    );
    // An installation may have no limit.
    if (limit === undefined || remaining === undefined || seconds === undefined || Number.isNaN(limit))
      return;
    this.#limit = limit;
    this.#remaining = remaining;
    this.#endsAt = this.now() + seconds * 1_000;
  };

  /** The milliseconds until the limit has room for the next request. */
  #heldBack(now: number): number {
    const left = this.#endsAt - now;
    if (left <= 0 || this.#remaining > this.#limit / 2) return 0;
    return this.#remaining < 1 ? left : this.#sentAt + left / this.#remaining - now;
  }
}

/**
 * The limit counts the previews of all pages of a browser, and this page learns of the others by the answers.
 */
export const previewPace = new PreviewPace();
