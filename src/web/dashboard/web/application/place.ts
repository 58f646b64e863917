import { useSyncExternalStore } from 'react';

/** The pages of the application, by path. The service answers each of them with the same document. */
const PAGES = {
  '/app': 'home',
  '/app/setup': 'setup',
  '/app/invitation': 'invitation',
  '/app/reset': 'reset',
  '/inspector': 'liveView',
} as const;

/** The current address, and the one-time token of the link that led to it. */
interface Place {
  readonly page: (typeof PAGES)[keyof typeof PAGES];
  readonly token: string | null;
}

let place: Place = arrive();
const listeners = new Set<() => void>();

/**
 * A link's token is in the fragment, and is removed from the address before it can be copied or stored in the
 * history.
 */
function arrive(): Place {
  const page = PAGES[location.pathname as keyof typeof PAGES] ?? 'home';
  const token = /^#(?:token|open)=([\w-]{1,1000})$/.exec(location.hash)?.[1] ?? null;
  if (token !== null) history.replaceState(null, '', location.pathname + location.search);
  return { page, token };
}

function change(): void {
  place = arrive();
  for (const listener of listeners) listener();
}

addEventListener('popstate', change);
// A link to the open page changes only the fragment.
addEventListener('hashchange', change);

/** The current address, outside of what is rendered. */
export const currentPlace = (): Place => place;

/** Opens the home page, or another one. The link's own address is not kept in the history. */
export function goHome(to = '/app'): void {
  history.replaceState(null, '', to);
  change();
}

/** The current address. */
export const usePlace = (): Place =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => place,
  );
