import { afterAll, beforeAll, describe } from 'bun:test';
import { embeddedStore, postgresStore, type Store } from './engine.ts';

/** A store that its tests neither make nor end. */
export type SharedStore = Pick<Store, 'database' | 'url'>;

/**
 * One store for the tests around the call: made before the first of them, gone after the last. Only they may
 * read it.
 */
export function sharedStore(make: () => Promise<Store>): SharedStore {
  let store: Store;
  beforeAll(async () => {
    store = await make();
  });
  afterAll(() => store[Symbol.asyncDispose]());
  return {
    get database() {
      return store.database;
    },
    get url() {
      return store.url;
    },
  };
}

const MAKERS = { PGlite: embeddedStore, PostgreSQL: postgresStore };

/**
 * The same tests twice, on a store of either kind; the title is that of the group, "on PGlite" and "on
 * PostgreSQL".
 */
export function onEachStore(title: string, tests: (store: SharedStore) => void): void {
  for (const [name, make] of Object.entries(MAKERS))
    describe(`${title} on ${name}`, () => tests(sharedStore(make)));
}
