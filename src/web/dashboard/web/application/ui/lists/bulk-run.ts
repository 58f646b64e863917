/** An item that a bulk action could not change. */
interface BulkFailure<Item> {
  readonly item: Item;
  readonly message: string;
}

/** The state of a bulk action. */
export interface BulkProgress<Item> {
  readonly done: number;
  readonly total: number;
  readonly failures: readonly BulkFailure<Item>[];
}

/** The parts of a bulk action that depend on the page. */
interface BulkDeps<Item> {
  /** Changes one item. @throws Error with the reason for which it cannot */
  readonly change: (item: Item) => Promise<unknown>;
  readonly onProgress: (progress: BulkProgress<Item>) => void;
  /** Waits before an item is tried again. */
  readonly wait: (ms: number) => Promise<void>;
  /** True once the rest is not wanted. */
  readonly isStopped: () => boolean;
}

/** The pause after the service answered that requests come too fast, and how often an item is tried. */
const PAUSE_MS = 1_000;
const MOST_TRIES = 5;

/** The wait of a page. */
export const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const isTooFast = (error: unknown): boolean => (error as { readonly status?: number } | null)?.status === 429;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Changes items one after the other; one that cannot be changed stops none of the others. */
export async function runBulk<Item>(
  items: readonly Item[],
  deps: BulkDeps<Item>,
): Promise<BulkProgress<Item>> {
  const failures: BulkFailure<Item>[] = [];
  let done = 0;
  const progress = (): BulkProgress<Item> => ({ done, total: items.length, failures: [...failures] });
  for (const item of items) {
    if (deps.isStopped()) break;
    const message = await failureOf(item, deps);
    done++;
    if (message !== null) failures.push({ item, message });
    deps.onProgress(progress());
  }
  return progress();
}

async function failureOf<Item>(item: Item, { change, wait }: BulkDeps<Item>): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    try {
      await change(item);
      return null;
    } catch (error) {
      if (!isTooFast(error) || tries === MOST_TRIES) return messageOf(error);
      await wait(PAUSE_MS);
    }
  }
}
