import { LruMap } from '../../platform/async/lru-map.ts';
import { Semaphore } from '../../platform/async/semaphore.ts';
import type { Database } from '../../platform/db/database.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { typeOfFile } from '../../platform/pictures/picture.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { isStored, noteShown, readContent } from './store.ts';

/** Octets of images that are kept, so that the first hour of a campaign does not read them for each recipient. */
const KEPT_OCTETS = 16_777_216;
/** A kept image is looked for again after this time: another instance may have deleted it. */
const SURE_MS = 60_000;
/** Images that are read from the database at once, and requests that may wait for that. */
const AT_ONCE = 4;
const MOST_WAITING = 200;
/** Files whose last day is remembered: so many are written at most once a day by an instance. */
const MOST_DAYS = 10_000;

export interface ShownImage {
  readonly type: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** An image with the moment (monotonic ms) up to which it is known to be stored. */
interface KeptImage extends ShownImage {
  until: number;
}

/** The images that mail shows, read by the names of their files. */
export class Images {
  readonly #kept = new LruMap<string, KeptImage>({
    ...{ entries: 1_000, weight: KEPT_OCTETS },
    weightOf: ({ content }) => content.byteLength,
  });
  readonly #days = new LruMap<string, string>({ entries: MOST_DAYS });
  readonly #reading = new Semaphore(AT_ONCE, undefined, MOST_WAITING);

  constructor(
    private readonly database: Database,
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Reads an image; null where there is none. @throws UnavailableError where too many are read at once */
  async find(file: string): Promise<ShownImage | null> {
    const type = typeOfFile(file);
    if (type === null) return null;
    const kept = this.#kept.get(file);
    const image = kept && kept.until > this.clock.monotonic() ? kept : await this.#read(file, type);
    if (image) this.#note(file);
    return image;
  }

  /** Forgets an image that was deleted here. Another instance shows it for a minute. */
  forget(file: string): void {
    this.#kept.delete(file);
  }

  async #read(file: string, type: string): Promise<ShownImage | null> {
    const { clock, database } = this;
    if (!(await this.#reading.take())) throw new UnavailableError('Too many images are read at once.');
    try {
      const known = this.#kept.get(file);
      if (known && known.until > clock.monotonic()) return known;
      if (known && (await isStored(database, file))) {
        known.until = clock.monotonic() + SURE_MS;
        return known;
      }
      this.#kept.delete(file);
      const content = await readContent(database, file);
      if (content === null) return null;
      const image = { type, content, until: clock.monotonic() + SURE_MS };
      this.#kept.set(file, image);
      return image;
    } finally {
      this.#reading.release();
    }
  }

  /** Notes the day of a view, once a day. The answer does not wait for it. */
  #note(file: string): void {
    const day = new Date(this.clock.now()).toISOString().slice(0, 10);
    if (this.#days.get(file) === day) return;
    this.#days.set(file, day);
    noteShown(this.database, file, day).catch((error: unknown) => {
      this.#days.delete(file);
      this.onError(error);
    });
  }
}
