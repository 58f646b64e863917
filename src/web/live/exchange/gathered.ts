import type { CommitListener } from '../../../engine/engine.ts';
import type { Draft } from '../../../engine/machine/draft.ts';
import type { Movement, Tick } from '../model.ts';

/**
 * The most transitions of another instance that one message lists one by one; messages come twice a second.
 */
export const FOREIGN_SAMPLE = 48;
/** Changed actors of a kind that an instance names to others. */
const MOST_NAMED = 100;

/**
 * The limits of a gathering: transitions listed one by one, and changed actors of a kind; beyond them, any
 * actor of the kind may have changed.
 */
export interface BufferLimits {
  readonly sample: number;
  readonly changed: number;
}
/** The limits for the viewers of this instance, who get four messages a second. */
export const FOR_VIEWERS: BufferLimits = { sample: 12, changed: 10_000 };
export const FOR_OTHERS: BufferLimits = { sample: FOREIGN_SAMPLE, changed: MOST_NAMED };

/** Different transitions that are counted apart; the machines of definitions may have any number of them. */
const MOST_MOVES = 200;

/** The part of the engine that is listened to. */
export interface FeedSource {
  listen(listener: CommitListener): () => void;
}

/** Numbers by kind. */
export type ByKind = Readonly<Record<string, number>>;

/** The commits of an instance in one environment since its last message. It holds no personal data. */
export interface News extends Pick<Tick, 'moves'> {
  /** The number of transitions of each kind that are only counted. */
  readonly times: ByKind;
  /** The number of moves reported before. A reader with a lower number has missed some. */
  readonly before: ByKind;
  readonly sample: readonly Omit<Movement, 'instance'>[];
  /** The actors that have changed, by kind; null where they are too many to be named. */
  readonly changed: Readonly<Record<string, readonly string[] | null>>;
}

/** Gathers transitions until they are read. Its memory is bounded; all transitions are counted. */
export class TransitionBuffer {
  readonly #moves = new Map<string, { readonly move: Tick['moves'][number]; times: number }>();
  readonly #times = new Map<string, number>();
  readonly #changed = new Map<string, Set<string> | null>();
  #sample: Movement[] = [];

  /** @param instance the one whose commits are noted */
  constructor(
    private readonly instance: string,
    private readonly kept: BufferLimits,
  ) {}

  get isEmpty(): boolean {
    return this.#times.size === 0;
  }

  /** Notes a commit of this instance. */
  note(kind: string, { after, steps }: Draft): void {
    this.#change(kind, after.id);
    for (const { event, from, to, at } of steps) {
      this.#count({ kind, event, from, to, times: 1 });
      this.#add(kind, 1);
      if (this.#sample.length < this.kept.sample)
        this.#sample.push({ kind, id: after.id, event, from, to, at, instance: this.instance });
    }
  }

  /**
   * Adds what another instance tells, and how many transitions of it were missed, of the kinds that are
   * visible.
   */
  hear(instance: string, news: News, missed: ByKind, isVisible: (kind: string) => boolean): void {
    for (const counts of [news.times, missed])
      for (const [kind, times] of Object.entries(counts)) if (isVisible(kind)) this.#add(kind, times);
    for (const move of news.moves) if (isVisible(move.kind)) this.#count(move);
    for (const move of news.sample)
      if (isVisible(move.kind) && this.#sample.length < FOREIGN_SAMPLE)
        this.#sample.push({ ...move, instance });
    for (const [kind, ids] of Object.entries(news.changed)) {
      if (!isVisible(kind)) continue;
      if (ids === null) this.#changed.set(kind, null);
      else for (const id of ids) this.#change(kind, id);
    }
  }

  /** Takes everything, of the changed actors those that are watched. */
  take(watched: readonly string[]): Pick<Tick, 'moves' | 'sample' | 'unshown' | 'changed'> {
    const total = [...this.#times.values()].reduce((sum, times) => sum + times, 0);
    const taken = {
      moves: this.#allMoves(),
      sample: this.#sample,
      unshown: total - this.#sample.length,
      changed: [...new Set(watched)].filter((id) => this.#hasChanged(id)),
    };
    this.#clear();
    return taken;
  }

  /** Takes everything to tell it to other instances. */
  tell(): Omit<News, 'before'> {
    const changed = [...this.#changed].map(([kind, ids]): [string, readonly string[] | null] => [
      kind,
      ids && [...ids],
    ]);
    const told = {
      times: Object.fromEntries(this.#times),
      moves: this.#allMoves(),
      sample: this.#sample.map(({ instance: _, ...move }) => move),
      changed: Object.fromEntries(changed),
    };
    this.#clear();
    return told;
  }

  #allMoves(): Tick['moves'] {
    return [...this.#moves.values()].map(({ move, times }) => ({ ...move, times }));
  }

  #clear(): void {
    this.#moves.clear();
    this.#times.clear();
    this.#changed.clear();
    this.#sample = [];
  }

  #add(kind: string, times: number): void {
    this.#times.set(kind, (this.#times.get(kind) ?? 0) + times);
  }

  #count(move: Tick['moves'][number]): void {
    const key = `${move.kind} ${move.from} ${move.event} ${move.to}`;
    const counted = this.#moves.get(key);
    if (counted) counted.times += move.times;
    else if (this.#moves.size < MOST_MOVES) this.#moves.set(key, { move, times: move.times });
  }

  #change(kind: string, id: string): void {
    const known = this.#changed.get(kind);
    if (known === null) return;
    if (known === undefined) this.#changed.set(kind, new Set([id]));
    else if (known.has(id) || known.size < this.kept.changed) known.add(id);
    else this.#changed.set(kind, null);
  }

  #hasChanged(id: string): boolean {
    for (const ids of this.#changed.values()) if (ids === null || ids.has(id)) return true;
    return false;
  }
}
