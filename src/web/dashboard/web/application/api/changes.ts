import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import type { Changes } from '../../../../live/model.ts';
import { namesAll } from './changed-ids.ts';
import type { ConnectionState } from './connection.ts';
import { useViewer } from './viewer.tsx';

/** Without the connection everything in sight is read again this often. */
const WITHOUT_MS = 10_000;
/**
 * Data that changes all the time is read again at most once in this time, unless a page sets its own pace.
 */
const PACE_MS = 1_000;
/** Only the first pages of a list are read again: a reader further down does not wait for news. */
const MOST_PAGES = 3;

/** The rule by which a page follows its data; it is the `meta` of its query. */
export interface RefreshRule {
  /** Further resources of the page besides its own: `emails` for the numbers of a campaign. */
  readonly follows?: readonly string[];
  /** The shortest time between two readings; false for what is read once. */
  readonly every?: number | false;
}

/** Keeps the visible data up to date: reads changed data again, each query at its own pace. */
class Readings {
  readonly #read = new Map<string, number>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(private readonly client: QueryClient) {}

  /** Reads again what a message is about. */
  hear({ changed }: Pick<Changes, 'changed'>): void {
    for (const query of this.#inSight()) if (isAbout(query, changed)) this.#soon(query);
  }

  /** Anything may have changed. */
  hearAll(): void {
    for (const query of this.#inSight()) if (paceOf(query) !== false) this.#soon(query);
  }

  end(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #inSight(): readonly Query[] {
    return this.client.getQueryCache().findAll({ type: 'active' });
  }

  #soon(query: Query): void {
    const { queryHash } = query;
    if (this.#timers.has(queryHash)) return;
    const since = Date.now() - (this.#read.get(queryHash) ?? 0);
    const wait = Math.max(0, (paceOf(query) || PACE_MS) - since);
    this.#timers.set(
      queryHash,
      setTimeout(() => this.#readAgain(query), wait),
    );
  }

  #readAgain(query: Query): void {
    const { queryHash } = query;
    this.#timers.delete(queryHash);
    if (!query.isActive()) return;
    // An answer that is on its way may be older than the change.
    if (query.state.fetchStatus === 'fetching') return this.#soon(query);
    const pages = (query.state.data as { readonly pages?: readonly unknown[] } | undefined)?.pages;
    if (pages && pages.length > MOST_PAGES) return;
    this.#read.set(queryHash, Date.now());
    // A hidden page reads again when it becomes visible.
    const refetchType = document.hidden ? 'none' : 'active';
    void this.client.invalidateQueries({ queryKey: query.queryKey, exact: true, refetchType });
  }
}

const followingOf = ({ meta }: Query): RefreshRule => (meta ?? {}) as RefreshRule;
const paceOf = (query: Query): number | false => followingOf(query).every ?? PACE_MS;

interface Pieces {
  readonly path?: Readonly<Record<string, unknown>>;
}

/** True when a query shows something that has changed. */
function isAbout(query: Query, changed: Changes['changed']): boolean {
  if (paceOf(query) === false) return false;
  const [, , resource, , pieces] = query.queryKey as readonly [string, string, string, string, Pieces?];
  const { follows = [] } = followingOf(query);
  if (follows.some((name) => name in changed)) return true;
  const ids = changed[resource];
  if (ids === undefined) return false;
  if (ids === null) return true;
  return namesAll(Object.values(pieces?.path ?? {}).map(String), ids);
}

/**
 * Follows what changes in the environment of the page for as long as it is rendered; answers how the
 * connection is.
 */
export function useChanges(): ConnectionState {
  const client = useQueryClient();
  const { connection } = useViewer();
  const state = useSyncExternalStore(connection.subscribe, () => connection.state);
  useEffect(() => {
    const readings = new Readings(client);
    let wasLost = false;
    const leaveMessages = connection.onMessage((message) => {
      if (message.type === 'changes') readings.hear(message);
      if (message.type === 'everything') readings.hearAll();
    });
    // Changes of the time without a connection were not reported, so everything is read again.
    const leaveOpenings = connection.onOpen(() => {
      if (wasLost) readings.hearAll();
      wasLost = true;
    });
    const without = window.setInterval(() => {
      if (!connection.isOpen) readings.hearAll();
    }, WITHOUT_MS);
    return () => {
      leaveMessages();
      leaveOpenings();
      window.clearInterval(without);
      readings.end();
    };
  }, [client, connection]);
  return state;
}
