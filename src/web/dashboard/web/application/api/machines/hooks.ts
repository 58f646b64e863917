import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { ActorItem, ActorLife, Machine } from '../../../../../live/model.ts';
import { inReadingOrder } from '../../ui/machine/words.ts';
import type { Connection } from '../connection.ts';
import { RequestError } from '../requests.ts';
import { useViewer, type Viewer } from '../viewer.tsx';
import { LiveMachines } from './live.ts';
import type { WantedActors } from './source.ts';

/** A part of what is live; drawn again only when that part changes. */
export const useLive = <Part>(live: LiveMachines, part: (live: LiveMachines) => Part): Part =>
  useSyncExternalStore(live.subscribe, () => part(live));

const keyOf = ({ workspace, environment }: Viewer, ...parts: readonly unknown[]) => [
  workspace.id,
  environment,
  'machines',
  ...parts,
];

/** The live view reports what has changed, so the messages about resources read none of its data again. */
const BY_ITSELF = { meta: { every: false } } as const;

/** An answer that says that the session has ended asks for another one. */
async function asking<Data>({ onExpired }: Viewer, answer: Promise<Data>): Promise<Data> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RequestError && error.status === 401) onExpired();
    throw error;
  }
}

/** The machines that move, once for each connection. */
const livesOf = new WeakMap<Connection, LiveMachines>();
function liveOf(connection: Connection): LiveMachines {
  const live = livesOf.get(connection) ?? new LiveMachines(connection);
  livesOf.set(connection, live);
  return live;
}

/** The machines of the environment, and their moves while the component is mounted. */
export function useLiveMachines(): {
  readonly live: LiveMachines;
  readonly machines: readonly Machine[] | null;
} {
  const viewer = useViewer();
  const live = liveOf(viewer.connection);
  useEffect(() => live.follow(), [live]);
  const { data } = useQuery({
    queryKey: keyOf(viewer),
    queryFn: async ({ signal }) => inReadingOrder(await asking(viewer, viewer.machines.machines(signal))),
    staleTime: Number.POSITIVE_INFINITY,
    ...BY_ITSELF,
  });
  return { live, machines: data ?? null };
}

/** The answer to a request, or its error; both null until it arrives. */
export interface RequestState<Data> {
  readonly value: Data | null;
  readonly problem: string | null;
}

/** An instance of an earlier version, which reports nothing, may be the one that changes an actor. */
const READ_AGAIN_MS = 5_000;

/** The life of an actor, read again whenever it changes. */
export function useLife(live: LiveMachines, id: string): RequestState<ActorLife> {
  const viewer = useViewer();
  const client = useQueryClient();
  const key = useMemo(() => keyOf(viewer, 'life', id), [viewer, id]);
  const { data, error } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => asking(viewer, viewer.machines.life(id, signal)),
    refetchInterval: READ_AGAIN_MS,
    ...BY_ITSELF,
  });
  useEffect(
    () => live.watch(id, () => void client.invalidateQueries({ queryKey: key, exact: true })),
    [live, id, client, key],
  );
  const isGone = error instanceof RequestError && error.status === 404;
  return {
    value: isGone ? null : (data ?? null),
    problem: isGone ? 'No such actor in this environment.' : (error?.message ?? null),
  };
}

/** Actors, page after page. */
export interface ActorList {
  readonly actors: readonly ActorItem[];
  readonly hasMore: boolean;
  readonly searchedBackTo: number | null;
  readonly isLoading: boolean;
  readonly problem: string | null;
  more(): void;
}

/** Actors of a kind by state or by the beginning of an id; another `version` reads the first page again. */
export function useActors(wanted: WantedActors, version: number): ActorList {
  const viewer = useViewer();
  const list = useInfiniteQuery({
    queryKey: keyOf(viewer, 'actors', wanted),
    queryFn: ({ pageParam, signal }) => asking(viewer, viewer.machines.actors(wanted, pageParam, signal)),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    ...BY_ITSELF,
  });
  const { data, error, isFetching, hasNextPage, refetch, fetchNextPage } = list;
  const pages = data?.pages ?? [];
  const [read, setRead] = useState(version);
  useEffect(() => {
    if (read === version) return;
    setRead(version);
    // A reader further down does not wait for news.
    if (pages.length <= 1) void refetch();
  }, [read, version, pages.length, refetch]);
  return {
    actors: pages.flatMap(({ actors }) => actors),
    hasMore: hasNextPage,
    searchedBackTo: pages.at(-1)?.searchedBackTo ?? null,
    isLoading: isFetching,
    problem: error?.message ?? null,
    more: () => void fetchNextPage(),
  };
}
