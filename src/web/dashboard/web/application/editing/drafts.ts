import { type Draft, LARGEST_DRAFT, lengthOf, outdatedIn } from './draft.ts';
import { serverDrafts } from './server-drafts.ts';

// Text that is typed and not saved is kept in this browser, so that neither a crash nor a reload loses it.
// IndexedDB, since a process that is killed has committed what it has written there; localStorage is written
// seconds later, of busy pages a minute.

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

/**
 * Does something with the store. Where a browser has none, such as in some private windows, nothing is kept
 * and nothing fails.
 */
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

/** The moment at which this page saw its session end; null while a member is signed in. */
let endedAt: number | null = null;

const all = (): Promise<readonly Draft[]> =>
  within('readonly', (store) => done(store.getAll() as IDBRequest<Draft[]>), []);

const putAll = (changed: readonly Draft[]): Promise<void> =>
  within(
    'readwrite',
    async (store) => {
      for (const each of changed) await done(store.put(each));
    },
    undefined,
  );

const removeAll = (keys: readonly string[]): Promise<void> =>
  within(
    'readwrite',
    async (store) => {
      for (const key of keys) await done(store.delete(key));
    },
    undefined,
  );

type News = 'signing out' | 'cleared' | { readonly removed: string };
/** The answer is waited for where there is one. */
type Hear = (told: News) => Promise<void> | undefined;
/** Pages of this tab: a channel delivers nothing to the tab that sends it (HTML, 9.5). */
const here = new Set<Hear>();
/** A service that does not answer delays signing out for no longer. */
const SETTLED_WITHIN_MS = 2_000;
/** Tells every other tab of this browser that the member has signed out, or that a draft was removed. */
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : null;

export const drafts = {
  /** Writes one; true when it is on the disk. */
  async keep(draft: Draft): Promise<boolean> {
    if (lengthOf(draft.values) > LARGEST_DRAFT) return false;
    const kept = endedAt === null ? draft : { ...draft, endedAt };
    return within('readwrite', async (store) => (await done(store.put(kept))) !== undefined, false);
  },

  /**
   * The latest one of a place that was left there by another page of the same person, in this browser or in
   * another one.
   */
  async leftAt(place: string, account: string, ownKey: string): Promise<Draft | null> {
    const kept = await all();
    const outdated = outdatedIn(kept, Date.now());
    await removeAll(outdated);
    const here = kept.filter(
      (each) => each.place === place && each.account === account && !outdated.includes(each.key),
    );
    // A draft that is here as well has a second more of what was typed.
    const elsewhere = await serverDrafts.at(place, account).catch(() => []);
    const others = elsewhere.filter(({ key }) => !here.some((each) => each.key === key));
    const left = [...here, ...others].filter(({ key }) => key !== ownKey);
    return left.toSorted((a, b) => b.at - a.at)[0] ?? null;
  },

  /** Removes one from this browser. */
  removeHere: (key: string): Promise<void> => removeAll([key]),

  /** Removes one of another page everywhere; one that is still open writes it again. */
  async remove(key: string): Promise<void> {
    await Promise.all([removeAll([key]), serverDrafts.remove(key).catch(() => {})]);
    channel?.postMessage({ removed: key });
  },

  /** Before the session ends: the service would refuse the removal of what was discarded after it. */
  async settle(): Promise<void> {
    const answers = [...here].map(async (hear) => hear('signing out'));
    const late = new Promise<void>((resolve) => setTimeout(resolve, SETTLED_WITHIN_MS));
    await Promise.race([Promise.all(answers), late]);
  },

  /** A person signs out: nothing of it stays, and no tab writes it again. */
  async clear(): Promise<void> {
    for (const hear of here) void hear('cleared');
    channel?.postMessage('cleared');
    await within('readwrite', async (store) => void (await done(store.clear())), undefined);
  },

  /** No one is signed in: what was typed stays for a day, for the account that has typed it. */
  async sessionEnded(now = Date.now()): Promise<void> {
    endedAt ??= now;
    const kept = await all();
    const outdated = outdatedIn(kept, now);
    await removeAll(outdated);
    await putAll(
      kept
        .filter((each) => each.endedAt === undefined && !outdated.includes(each.key))
        .map((each) => ({ ...each, endedAt: now })),
    );
  },

  /** A person is signed in: what others have left in this browser goes, and what is too old. */
  async resume(account: string, now = Date.now()): Promise<void> {
    endedAt = null;
    const kept = await all();
    const outdated = outdatedIn(kept, now);
    const gone = kept.filter((each) => each.account !== account || outdated.includes(each.key));
    await removeAll(gone.map(({ key }) => key));
    await putAll(
      kept
        .filter((each) => each.endedAt !== undefined && !gone.includes(each))
        .map(({ endedAt: _, ...each }) => each),
    );
  },

  /** Hears that everything was cleared, or that another tab has removed a draft. */
  listen(hear: Hear): () => void {
    const listener = ({ data }: MessageEvent<News>) => void hear(data);
    here.add(hear);
    channel?.addEventListener('message', listener);
    return () => {
      here.delete(hear);
      channel?.removeEventListener('message', listener);
    };
  },
};
