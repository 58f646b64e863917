import { orAborted, withDeadline } from '../../platform/async/deadline.ts';
import { LruMap } from '../../platform/async/lru-map.ts';
import { Semaphore } from '../../platform/async/semaphore.ts';
import type { BodyLost } from '../../platform/bodies/body-store.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { typeOfFile } from '../../platform/pictures/picture.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { isLost, type OctetsDeps, readImage } from './octets.ts';
import { isStored, noteShown } from './store.ts';

/**
 * Octets of images that are kept, so that the first hour of a campaign does not read them for each recipient.
 */
const KEPT_OCTETS = 16_777_216;
/** A kept image is looked for again after this time: another instance may have deleted it. */
const SURE_MS = 60_000;
/**
 * Images that are read at once, so that strangers take little of the body store from mail, and reads that may
 * wait for that.
 */
const AT_ONCE = 4;
const MOST_WAITING = 200;
/**
 * The time in which the body of an image that is uploaded again is looked for: a request is answered within
 * eight seconds.
 */
const LOOKED_FOR_MS = 4_000;
/**
 * Images with lost bodies that are remembered for a minute, so that strangers do not have the store asked for
 * them again and again.
 */
const MOST_LOST = 1_000;
/** Files whose last day is remembered: so many are written at most once a day by an instance. */
const MOST_DAYS = 10_000;
const unknown = (): Error => new UnavailableError('The body of the image could not be looked for in time.');

export interface ShownImage {
  readonly type: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** An image with the moment (monotonic ms) up to which it is known to be stored. */
interface KeptImage extends ShownImage {
  until: number;
}

/** The keys of an image that are known to be lost, up to a moment (monotonic ms). */
interface LostKeys {
  readonly keys: string[];
  readonly until: number;
}

/** Hears of problems that no answer tells an operator of. */
export interface ImageReports {
  /** The day of a view could not be stored. */
  onError(error: unknown): void;
  /** The octets of an image are missing or damaged in the body store. */
  onLost(lost: BodyLost): void;
}

/** The images that mail shows, read by the names of their files. */
export class Images {
  readonly #kept = new LruMap<string, KeptImage>({
    entries: 1_000,
    weight: KEPT_OCTETS,
    weightOf: ({ content }) => content.byteLength,
  });
  readonly #days = new LruMap<string, string>({ entries: MOST_DAYS });
  readonly #lost = new LruMap<string, LostKeys>({ entries: MOST_LOST });
  readonly #reading = new Semaphore(AT_ONCE, undefined, MOST_WAITING);
  readonly #lookingFor = new Semaphore(AT_ONCE, undefined, MOST_WAITING);
  /** The reads that are under way: the recipients of a campaign open it at the same time. */
  readonly #pending = new Map<string, Promise<ShownImage | null>>();

  constructor(
    private readonly octets: OctetsDeps,
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    private readonly report: ImageReports,
  ) {}

  /**
   * Reads an image; null where there is none. @throws UnavailableError where its octets cannot be read, or
   * too many are read at once
   */
  async find(file: string): Promise<ShownImage | null> {
    const type = typeOfFile(file);
    if (type === null) return null;
    const kept = this.#kept.get(file);
    const image = kept && kept.until > this.clock.monotonic() ? kept : await this.#once(file, type);
    if (image) this.#note(file);
    return image;
  }

  /** Forgets an image that was deleted or stored here. Another instance goes by what it knew for a minute. */
  forget(file: string): void {
    this.#kept.delete(file);
    this.#lost.delete(file);
  }

  /**
   * True for the body of an image that will not come back by waiting, or whose store is not set any more;
   * false while that is unknown.
   */
  async isLost(key: string): Promise<boolean> {
    const { bodies } = this.octets;
    if (!bodies) return true;
    const look = (signal: AbortSignal) => this.#lookingFor.run(() => isLost(bodies, key), signal, unknown);
    try {
      return await withDeadline({ deadlineMs: LOOKED_FOR_MS }, (signal) =>
        orAborted(look(signal), signal, unknown),
      );
    } catch (error) {
      if (error instanceof UnavailableError) return false;
      throw error;
    }
  }

  #once(file: string, type: string): Promise<ShownImage | null> {
    const pending = this.#pending.get(file);
    if (pending) return pending;
    const begun = this.#read(file, type).finally(() => this.#pending.delete(file));
    this.#pending.set(file, begun);
    return begun;
  }

  async #read(file: string, type: string): Promise<ShownImage | null> {
    const { clock, octets } = this;
    if (!(await this.#reading.take())) throw new UnavailableError('Too many images are read at once.');
    try {
      const known = this.#kept.get(file);
      if (known && (await isStored(octets.database, file))) {
        known.until = clock.monotonic() + SURE_MS;
        return known;
      }
      this.#kept.delete(file);
      const content = await this.#octetsOf(file);
      if (content === null) return null;
      const image = { type, content, until: clock.monotonic() + SURE_MS };
      this.#kept.set(file, image);
      return image;
    } finally {
      this.#reading.release();
    }
  }

  async #octetsOf(file: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const now = this.clock.monotonic();
    const known = this.#lost.get(file);
    const lost: LostKeys = known && known.until > now ? known : { keys: [], until: now + SURE_MS };
    try {
      return await readImage(this.octets, file, lost.keys, this.report.onLost);
    } finally {
      if (lost.keys.length > 0) this.#lost.set(file, lost);
    }
  }

  /** Notes the day of a view, once a day. The answer does not wait for it. */
  #note(file: string): void {
    const day = new Date(this.clock.now()).toISOString().slice(0, 10);
    if (this.#days.get(file) === day) return;
    this.#days.set(file, day);
    noteShown(this.octets.database, file, day).catch((error: unknown) => {
      this.#days.delete(file);
      this.report.onError(error);
    });
  }
}
