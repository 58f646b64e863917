import type { Scope } from '../../../engine/machine/result.ts';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { scopeKey } from '../visibility.ts';
import type { ByKind, News } from './gathered.ts';
import { sumOf } from './outgoing.ts';

/**
 * The number of instances whose place is remembered. The last seconds of a forgotten one would be reported
 * again.
 */
const MOST_INSTANCES = 1_000;

/** The news of another instance about an environment, and the number of its moves that were missed here. */
export interface InstanceNews {
  readonly instance: string;
  readonly news: News;
  /** Transitions reported while this instance read nothing for seconds, or by too many instances at once. */
  readonly missed: ByKind;
}

export type HeardListener = (heard: InstanceNews) => void;

export interface NewsRow extends Scope {
  readonly instance: string;
  readonly number: number;
  readonly news: string;
}

interface WatchedScope {
  readonly scope: Scope;
  readonly listeners: Set<HeardListener>;
  /** The number of transitions of each kind that each instance has reported. */
  readonly told: LruMap<string, ByKind>;
  /**
   * The news at the first look was committed before the environment was watched, so missed moves count only
   * after it.
   */
  isNew: boolean;
}

/** The environments that are watched here, and what was heard of them. */
export class IncomingNews {
  readonly #watched = new Map<string, WatchedScope>();
  /** The latest number that was heard of each instance. */
  readonly #heard = new LruMap<string, number>({ entries: MOST_INSTANCES });

  /** Adds a listener until the returned function is called. */
  join({ workspaceId, livemode }: Scope, listener: HeardListener): () => void {
    const scope = { workspaceId, livemode };
    const key = scopeKey(scope);
    const watched = this.#watched.get(key) ?? {
      scope,
      listeners: new Set(),
      told: new LruMap({ entries: MOST_INSTANCES }),
      isNew: true,
    };
    this.#watched.set(key, watched);
    watched.listeners.add(listener);
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size === 0 && this.#watched.get(key) === watched) this.#watched.delete(key);
    };
  }

  get scopes(): readonly Scope[] {
    return [...this.#watched.values()].map(({ scope }) => scope);
  }

  /** Those that were looked at once, of which everything further is heard. */
  get begun(): readonly Scope[] {
    return [...this.#watched.values()].flatMap(({ scope, isNew }) => (isNew ? [] : [scope]));
  }

  /** The place in the news of each instance up to which it was read. */
  get places(): readonly { readonly instance: string; readonly number: number }[] {
    return [...this.#heard].map(([instance, number]) => ({ instance, number }));
  }

  /** Takes in what was read for these environments. */
  take(scopes: readonly Scope[], rows: readonly NewsRow[]): void {
    for (const row of rows) this.#hear(row);
    for (const scope of scopes) {
      const watched = this.#watched.get(scopeKey(scope));
      if (watched) watched.isNew = false;
    }
  }

  #hear({ instance, number, news: text, ...scope }: NewsRow): void {
    this.#heard.set(instance, number);
    const watched = this.#watched.get(scopeKey(scope));
    if (!watched) return;
    const news = JSON.parse(text) as News;
    const missed = missedBetween(watched.told.get(instance), news.before);
    watched.told.set(instance, sumOf(news.before, news.times));
    if (watched.isNew) return;
    for (const listener of watched.listeners) listener({ instance, news, missed });
  }
}

/**
 * The moves between the known count and this one. An instance that stopped reporting for a while starts its
 * count again.
 */
function missedBetween(known: ByKind | undefined, before: ByKind): ByKind {
  if (!known) return {};
  const missed: Record<string, number> = {};
  for (const [kind, times] of Object.entries(before))
    if (times > (known[kind] ?? 0)) missed[kind] = times - (known[kind] ?? 0);
  return missed;
}
