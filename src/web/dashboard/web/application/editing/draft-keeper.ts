import { isFinal } from '../api/requests.ts';
import { type Draft, lengthOf } from './draft.ts';

/** Typed text is kept within this time: a process that is killed loses no more. */
export const KEPT_WITHIN_MS = 400;
/**
 * The service gets it within this time, more than that many characters within a longer one; while it does not
 * answer, again and again.
 */
export const SENT_WITHIN_MS = 1_000;
const MANY_CHARACTERS = 100_000;
export const MANY_SENT_WITHIN_MS = 5_000;
export const SENT_AGAIN_MS = 10_000;

/** The edit whose unsaved changes are kept, and the two places that keep them. */
interface DraftKeeperDeps {
  readonly isUnsaved: () => boolean;
  /** The values on the screen: another object after each change. */
  readonly values: () => unknown;
  readonly draft: () => Draft;
  /** This browser; `keep` is false where it could not. Both take effect in the order of their calls. */
  readonly browser: {
    keep(draft: Draft): Promise<boolean>;
    remove(): void;
  };
  /** The service, which answers in any order; null where it keeps no draft of this resource. */
  readonly service: {
    keep(draft: Draft): Promise<number>;
    remove(): Promise<unknown>;
  } | null;
  /**
   * When the browser and when the service kept what is unsaved (epoch milliseconds); null where they do not.
   */
  readonly onKept: (at: number | null) => void;
  readonly onSent: (at: number | null) => void;
  /** Calls back after a while, unless the answer is called before. */
  readonly after: (ms: number, act: () => void) => () => void;
}

/**
 * Keeps the unsaved changes of one edit. The service is asked for one thing at a time: a draft that is on its
 * way would come back after it was removed, and a removal on its way would take a newer draft with it.
 */
export class DraftKeeper {
  #stopWriting: (() => void) | null = null;
  #stopSending: (() => void) | null = null;
  #isWritten = false;
  /**
   * The times that nothing was unsaved: an answer about what was typed before says nothing of what is typed
   * now.
   */
  #round = 0;
  /** True from the first request to keep it until a removal was answered. */
  #mayBeSent = false;
  /** The request under way and what follows from its answer; null where there is none. */
  #asking: Promise<void> | null = null;
  #isOver = false;
  /** True from the moment that the page of the edit is left. */
  #isLeft = false;
  /** True where the timer of the next request waits for a removal. */
  #isForRemoval = false;
  /** True where another page has removed what the service was sent. */
  #mustSend = false;
  #sentWithin = SENT_WITHIN_MS;

  constructor(private readonly deps: DraftKeeperDeps) {}

  /** The edit has changed. */
  readonly follow = (): void => {
    this.#isLeft = false;
    if (!this.deps.isUnsaved()) return this.forget();
    // Only a draft that was not kept waits for so long.
    if (this.#isForRemoval) this.#stopTalk();
    this.#stopWriting ??= this.deps.after(KEPT_WITHIN_MS, this.write);
    this.#talkAfter(this.#sentWithin);
  };

  /** Writes it again: another page has removed it. */
  readonly again = (): void => {
    this.#mustSend = true;
    this.write();
    this.#talkAfter(this.#sentWithin);
  };

  readonly write = (): void => {
    this.#stopWriting?.();
    this.#stopWriting = null;
    const { isUnsaved, draft, browser, onKept } = this.deps;
    if (this.#isOver || !isUnsaved()) return;
    const written = draft();
    this.#isWritten = true;
    const round = this.#round;
    void browser.keep(written).then((isOnDisk) => {
      if (round === this.#round) onKept(isOnDisk ? written.at : null);
    });
  };

  /** Writes what waits for its moment. */
  readonly flush = (): void => {
    if (this.#stopWriting) this.write();
  };

  /** Nothing is unsaved. */
  readonly forget = (): void => {
    this.#stopWriting?.();
    this.#stopWriting = null;
    if (this.#isWritten) this.deps.browser.remove();
    this.#isWritten = false;
    this.#round++;
    this.deps.onKept(null);
    this.deps.onSent(null);
    if (this.#mayBeSent) this.#talk();
  };

  /**
   * The page is left: the service is asked for nothing but a removal, as the next page may be of another
   * member.
   */
  readonly leave = (): void => {
    this.flush();
    this.#isLeft = true;
    if (this.deps.isUnsaved()) this.#stopTalk();
  };

  /**
   * Ends once the service has answered what it was asked, and a removal that it has not carried out once
   * more.
   */
  readonly settle = async (): Promise<void> => {
    if (!this.deps.isUnsaved()) this.#talk();
    while (this.#asking) await this.#asking;
  };

  /** The member has signed out. */
  readonly end = (): void => {
    this.#isOver = true;
    this.#stopWriting?.();
    this.#stopTalk();
  };

  #talkAfter(ms: number): void {
    const { service, isUnsaved, after } = this.deps;
    if (!service || this.#asking || this.#isOver || (this.#isLeft && isUnsaved()) || this.#stopSending)
      return;
    this.#isForRemoval = !isUnsaved();
    this.#stopSending = after(ms, () => this.#talk());
  }

  #stopTalk(): void {
    this.#stopSending?.();
    this.#stopSending = null;
    this.#isForRemoval = false;
  }

  /** Tells the service what is true now: the draft, or that there is none. */
  #talk(): void {
    this.#stopTalk();
    const { isUnsaved } = this.deps;
    if (this.#asking || this.#isOver || (!isUnsaved() && !this.#mayBeSent)) return;
    this.#asking = (isUnsaved() ? this.#keep() : this.#remove()).then((wait) => {
      this.#asking = null;
      // Changes that came meanwhile follow.
      if (!isUnsaved() && this.#mayBeSent && wait === 0) this.#talk();
      else if (wait !== null) this.#talkAfter(wait);
    });
  }

  /**
   * The answer of both: the time to the next request, 0 for as soon as there is something to say; null for
   * none.
   */
  async #keep(): Promise<number | null> {
    const { service, draft, values, isUnsaved, onSent } = this.deps;
    const sent = draft();
    const [before, round] = [values(), this.#round];
    const isLong = lengthOf(sent.values) > MANY_CHARACTERS;
    this.#sentWithin = isLong ? MANY_SENT_WITHIN_MS : SENT_WITHIN_MS;
    this.#mayBeSent = true;
    this.#mustSend = false;
    const at = await service?.keep(sent).catch((error: unknown) => error);
    if (!isUnsaved()) return 0;
    const isKept = typeof at === 'number';
    if (round === this.#round) onSent(isKept ? at : null);
    if (values() !== before || this.#mustSend) return this.#sentWithin;
    // A refusal comes again until something is changed.
    return isKept || isFinal(at) ? null : SENT_AGAIN_MS;
  }

  async #remove(): Promise<number | null> {
    const failure = await this.deps.service?.remove().then(
      () => null,
      (error: unknown) => error,
    );
    this.#mayBeSent = failure !== null && !isFinal(failure);
    if (this.deps.isUnsaved()) return this.#sentWithin;
    return this.#mayBeSent ? SENT_AGAIN_MS : null;
  }
}
