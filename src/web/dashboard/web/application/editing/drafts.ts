import { type Draft, LARGEST_DRAFT, outdatedIn } from './draft.ts';

// What is typed and not saved yet is kept in this browser, so that neither a crash nor a reload loses it. IndexedDB, since a process that
// is killed has committed what it has written there; localStorage is written seconds later, of busy pages a minute.

const NAME = 'posthorn drafts';
const STORE = 'drafts';

const done = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

let opened: Promise<IDBDatabase> | undefined;
function open(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'key' });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

/** Does something with the store. Where a browser has none, such as in some private windows, nothing is kept and nothing fails. */
async function within<Value>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => Promise<Value>,
  otherwise: Value,
): Promise<Value> {
  try {
    const transaction = (await open()).transaction(STORE, mode);
    return await act(transaction.objectStore(STORE));
  } catch {
    return otherwise;
  }
}

const all = (): Promise<readonly Draft[]> =>
  within('readonly', (store) => done(store.getAll() as IDBRequest<Draft[]>), []);

const removeAll = (keys: readonly string[]): Promise<void> =>
  within(
    'readwrite',
    async (store) => {
      for (const key of keys) await done(store.delete(key));
    },
    undefined,
  );

/** Tells every tab of this browser that somebody has signed out, or that a draft was removed. */
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : null;

export const drafts = {
  /** Writes one; true when it is on the disk. */
  async keep(draft: Draft): Promise<boolean> {
    if (JSON.stringify(draft.values).length > LARGEST_DRAFT) return false;
    return within('readwrite', async (store) => (await done(store.put(draft))) !== undefined, false);
  },

  /** The latest one of a place that was left there by another page of the same person. */
  async leftAt(place: string, account: string, ownKey: string): Promise<Draft | null> {
    const kept = await all();
    await removeAll(outdatedIn(kept, Date.now()));
    const left = kept.filter(
      (each) => each.place === place && each.account === account && each.key !== ownKey,
    );
    return left.toSorted((a, b) => b.at - a.at)[0] ?? null;
  },

  async remove(key: string): Promise<void> {
    await removeAll([key]);
    channel?.postMessage({ removed: key });
  },

  /** Somebody signs out: nothing of it stays, and no other tab writes it again. */
  async clear(): Promise<void> {
    channel?.postMessage('cleared');
    await within('readwrite', async (store) => void (await done(store.clear())), undefined);
  },

  /** Somebody is signed in: what others have left in this browser goes. */
  async removeOthers(account: string): Promise<void> {
    const others = (await all()).filter((each) => each.account !== account);
    await removeAll(others.map(({ key }) => key));
  },

  /** Hears that everything was cleared, or that another tab has removed a draft. */
  listen(hear: (told: 'cleared' | { readonly removed: string }) => void): () => void {
    const listener = ({ data }: MessageEvent) => hear(data);
    channel?.addEventListener('message', listener);
    return () => channel?.removeEventListener('message', listener);
  },
};
