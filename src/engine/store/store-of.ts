import type { Kind } from '../machine/kind.ts';
import type { ActorStore } from './actor-store.ts';
import { HistoryStore } from './history-store.ts';
import { RowStore } from './row-store.ts';

const made = new WeakMap<Kind, ActorStore>();

/** The store of a kind: the one place that chooses how actors are stored. */
export function storeOf(kind: Kind): ActorStore {
  const known = made.get(kind);
  if (known) return known;
  const store = kind.history ? new HistoryStore(kind, kind.history) : new RowStore(kind);
  made.set(kind, store);
  return store;
}
