import { useEffect, useRef, useSyncExternalStore } from 'react';
import { navigate } from 'wouter/use-browser-location';

/** Something that is not saved yet. */
interface Guard {
  readonly isUnsaved: () => boolean;
  /** True when that address leads away from it. */
  readonly isLeftFor: (to: URL) => boolean;
  /** The element around it, so that a dialog knows what it would close. */
  readonly element: () => Element | null;
  readonly discard: () => void;
}

/** A way out that waits for an answer. */
interface PendingNavigation {
  readonly go: () => void;
  readonly left: readonly Guard[];
}

const guards = new Set<Guard>();
const listeners = new Set<() => void>();
let pending: PendingNavigation | null = null;

function change(next: PendingNavigation | null): void {
  pending = next;
  for (const listener of listeners) listener();
}

function ask(left: readonly Guard[], go: () => void): void {
  if (left.length === 0) go();
  else change({ go, left });
}

/** Another tab of the page leads away from what is in this one, other filters do not. */
const isElsewhere = (to: URL): boolean =>
  to.pathname !== location.pathname ||
  to.searchParams.get('tab') !== new URLSearchParams(location.search).get('tab');
/** Every tab of the page shows the same thing that is edited. */
const isOtherPage = (to: URL): boolean => to.pathname !== location.pathname;

/** The question before unsaved changes are left. */
export const leaving = {
  /**
   * Goes on at once where nothing is unsaved, else once the person has agreed: signing out, another
   * workspace, another environment.
   */
  ask: (go: () => void): void =>
    ask(
      [...guards].filter((guard) => guard.isUnsaved()),
      go,
    ),
  /** The same for what is inside an element that closes. */
  askIn: (element: Element, go: () => void): void =>
    ask(
      [...guards].filter((guard) => guard.isUnsaved() && element.contains(guard.element())),
      go,
    ),
  stay: (): void => change(null),
  discard: (): void => {
    const agreed = pending;
    change(null);
    for (const guard of agreed?.left ?? []) guard.discard();
    agreed?.go();
  },
};

/** True while a person is asked. */
export const useIsAsked = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => pending !== null,
  );

/**
 * Guards what is unsaved as long as `isUnsaved` says so: every way inside the application, Back and Forward,
 * and closing or reloading the page. `acrossTabs`: the tabs of the page show the same thing.
 */
export function useGuard(given: {
  readonly isUnsaved: () => boolean;
  readonly discard: () => void;
  readonly element?: () => Element | null;
  readonly acrossTabs?: boolean;
}): void {
  const latest = useRef(given);
  useEffect(() => {
    latest.current = given;
  });
  // It is there before anything is typed: the first key and a click at once leave no gap between them.
  useEffect(() => {
    const guard: Guard = {
      isUnsaved: () => latest.current.isUnsaved(),
      isLeftFor: (to) => (latest.current.acrossTabs === true ? isOtherPage : isElsewhere)(to),
      element: () => latest.current.element?.() ?? null,
      discard: () => latest.current.discard(),
    };
    guards.add(guard);
    return () => void guards.delete(guard);
  }, []);
}

// The one place through which every way goes: links, the palette, keys, Back and Forward. Older browsers have
// no Navigation API: there the page asks when it is closed, and what was typed is offered when it is opened
// again.
if ('navigation' in globalThis)
  navigation.addEventListener('navigate', (event) => {
    const { destination, downloadRequest, hashChange, navigationType } = event;
    // The browser asks where the document itself is left.
    if (!event.cancelable || hashChange || downloadRequest !== null || !destination.sameDocument) return;
    const to = new URL(destination.url);
    const left = [...guards].filter((guard) => guard.isUnsaved() && guard.isLeftFor(to));
    if (left.length === 0) return;
    event.preventDefault();
    ask(left, () =>
      navigationType === 'traverse'
        ? void navigation.traverseTo(destination.key)
        : navigate(to.pathname + to.search + to.hash, { replace: navigationType === 'replace' }),
    );
  });

addEventListener('beforeunload', (event) => {
  if ([...guards].some((guard) => guard.isUnsaved())) event.preventDefault();
});
