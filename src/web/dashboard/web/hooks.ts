import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ActorItem, ActorLife, ActorPage } from '../../live/model.ts';
import type { WantedActors } from './api.ts';
import { RequestError } from './application/api/requests.ts';
import type { LiveConnection } from './live.ts';

/** A part of what is live; drawn again only when that part changes. */
export const useLive = <T>(live: LiveConnection, part: (live: LiveConnection) => T): T =>
  useSyncExternalStore(live.subscribe, () => part(live));

const WIDE = window.matchMedia('(min-width: 1024px)');
const onWide = (listener: () => void): (() => void) => {
  WIDE.addEventListener('change', listener);
  return () => WIDE.removeEventListener('change', listener);
};

/** True where the window has room for a diagram that can be read, with a panel beside it. */
export const useIsWide = (): boolean => useSyncExternalStore(onWide, () => WIDE.matches);

/** The current time, updated at each interval. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** The answer to a request, or its error; both null until it arrives. */
export interface RequestState<T> {
  readonly value: T | null;
  readonly problem: string | null;
}

const READ_AGAIN_MS = 5_000;

/** The life of an actor, read again whenever it changes. */
export function useLife(live: LiveConnection, id: string): RequestState<ActorLife> {
  const [asked, setAsked] = useState<RequestState<ActorLife>>({ value: null, problem: null });
  useEffect(() => {
    let abort = new AbortController();
    const read = () => {
      abort.abort();
      abort = new AbortController();
      live.source.life(id, abort.signal).then(
        (value) => setAsked({ value, problem: null }),
        (error: unknown) => {
          if (error instanceof DOMException && error.name === 'AbortError') return;
          const isGone = error instanceof RequestError && error.status === 404;
          setAsked({
            value: null,
            problem: isGone ? 'No such actor in this environment.' : (error as Error).message,
          });
        },
      );
    };
    setAsked({ value: null, problem: null });
    const leave = live.watch(id, read);
    // An instance of an earlier version, which reports nothing, may be the one that changes it.
    const timer = window.setInterval(read, READ_AGAIN_MS);
    read();
    return () => {
      leave();
      window.clearInterval(timer);
      abort.abort();
    };
  }, [live, id]);
  return asked;
}

/** Actors, page after page. */
export interface ActorList {
  readonly actors: readonly ActorItem[];
  readonly next: string | null;
  readonly searchedBackTo: number | null;
  readonly isLoading: boolean;
  readonly problem: string | null;
  more(): void;
}

const NOTHING: Omit<ActorList, 'more'> = {
  actors: [],
  next: null,
  searchedBackTo: null,
  isLoading: true,
  problem: null,
};

/** Actors of a kind by state or by the beginning of an id; `version` reads the first page again. */
export function useActors(
  { source }: LiveConnection,
  { kind, state, id }: Omit<WantedActors, 'after'>,
  version: number,
): ActorList {
  const [listed, setListed] = useState(NOTHING);
  const [after, setAfter] = useState<string | null>(null);
  const wanted = `${kind} ${state} ${id}`;
  const [shown, setShown] = useState(wanted);
  if (shown !== wanted) {
    setShown(wanted);
    setListed(NOTHING);
    setAfter(null);
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version asks for the same page again.
  useEffect(() => {
    const abort = new AbortController();
    setListed((now) => ({ ...now, isLoading: true }));
    source.actors({ kind, state, id, after }, abort.signal).then(
      (page: ActorPage) =>
        setListed((now) => ({
          ...page,
          actors: after === null ? page.actors : [...now.actors, ...page.actors],
          isLoading: false,
          problem: null,
        })),
      (error: unknown) => {
        if (!abort.signal.aborted)
          setListed((now) => ({ ...now, isLoading: false, problem: (error as Error).message }));
      },
    );
    return () => abort.abort();
  }, [source, kind, state, id, after, after === null ? version : 0]);
  return { ...listed, more: () => setAfter(listed.next) };
}
