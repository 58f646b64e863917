import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../platform/db/database.ts';

/** The channel of PostgreSQL (LISTEN). It belongs to one database. */
const CHANNEL = 'posthorn';
/** The least time between two notifications of one instance. */
const PAUSE_MS = 50;
/** The longest, where they fail. */
const LONGEST_PAUSE_MS = 5_000;

/** SQL that has a session hear the notifications of all instances. */
export const LISTEN = `listen ${CHANNEL}`;
const TELL = `select pg_notify('${CHANNEL}', topic) from unnest($1::text[]) topic`;

/**
 * The things that one instance has to tell another: `work` is due that this one cannot begin, a viewer of the
 * live view begins or ends to `watch`, an instance is `here` under another epoch, one has `left` what only it
 * knew of, and its `duties` fail or take long.
 */
export type Topic = 'work' | 'watch' | 'here' | 'left' | 'duties';

interface NewsParts {
  readonly database: Pick<Database, 'query'>;
  /** The instance, as its row in the roster names it. */
  readonly id: string;
  /** True while other instances live. */
  hasOthers(): boolean;
}

/**
 * Notifications between instances. They only make waits shorter: one that is lost, and an instance that hears
 * none, is made up for by looks. An instance wakes itself for all that it writes, so that only work for
 * others is worth one. It is sent by itself and not with the commit: PostgreSQL takes one lock of the whole
 * server for each transaction that notifies, until that transaction is on disk. One that writes nothing else
 * waits for no disk.
 */
export class News {
  /**
   * True while the session of this instance listens. Then it need not look for the work that others leave to
   * it.
   */
  #hears = false;
  readonly #listeners = new Map<Topic, (() => void)[]>();
  readonly #changed: (() => void)[] = [];
  readonly #unsent = new Set<Topic>();
  #isSending = false;
  #isOver = false;
  /** The notification under way. */
  #sent: Promise<boolean> = Promise.resolve(true);

  constructor(private readonly parts: NewsParts) {}

  get hears(): boolean {
    return this.#hears;
  }

  set hears(hears: boolean) {
    if (hears === this.#hears) return;
    this.#hears = hears;
    for (const listener of this.#changed) listener();
  }

  /** Calls back when this instance begins or ceases to hear others. */
  onHearing(listener: () => void): void {
    this.#changed.push(listener);
  }

  on(topic: Topic, listener: () => void): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
  }

  /** Tells the other instances soon; many calls are one notification. */
  tell(topic: Topic): void {
    if (this.#isOver || !this.parts.hasOthers()) return;
    this.#unsent.add(topic);
    if (!this.#isSending) void this.#send();
  }

  /** Sends what waits, and tells nothing any more: the database is about to be closed. */
  async stop(): Promise<void> {
    await this.#sent;
    if (this.#unsent.size > 0) await this.#sendOnce();
    this.#isOver = true;
    this.#unsent.clear();
  }

  /** Takes a notification of the channel. Answers true where it is this instance's, which goes no further. */
  heard(payload: string): boolean {
    const [topic = '', from] = payload.split(' ');
    if (from === this.parts.id) return true;
    this.hear(topic as Topic);
    return false;
  }

  /** Does what hearing of the topic does. */
  hear(topic: Topic): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let ms = PAUSE_MS; this.#unsent.size > 0; ) {
      this.#sent = this.#sendOnce();
      ms = (await this.#sent) ? PAUSE_MS : Math.min(2 * ms, LONGEST_PAUSE_MS);
      await pause(ms, undefined, { ref: false });
    }
    this.#isSending = false;
  }

  /** Answers false where it failed: it tells its topics again then, as long as others live. */
  async #sendOnce(): Promise<boolean> {
    const topics = [...this.#unsent];
    this.#unsent.clear();
    const told = topics.map((topic) => `${topic} ${this.parts.id}`);
    try {
      await this.parts.database.query(TELL, [told], { isRoutine: true });
      return true;
    } catch {
      if (this.parts.hasOthers()) for (const topic of topics) this.#unsent.add(topic);
      return false;
    }
  }
}

/**
 * Has an instance look at once for what others tell of: work, what one that is gone has left, and long
 * duties.
 */
export function hearOthers(
  news: Pick<News, 'on'>,
  engine: { lookNow(): unknown; othersLeft(): unknown },
  hurryDuties: () => unknown,
): void {
  news.on('work', () => engine.lookNow());
  news.on('left', () => {
    engine.othersLeft();
    hurryDuties();
  });
  news.on('duties', hurryDuties);
}
