import { createContext, type ReactNode, use, useEffect } from 'react';
import { Router, useLocation, useSearch } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import { useViewer } from '../api/viewer.tsx';
import { usePainted } from '../ui/charts/painted.ts';

/** The part of the address that determines the page. */
interface Place {
  readonly path: string;
  readonly search: string;
}

const Path = createContext('/');
const Search = createContext('');
const usePath = (): [string, typeof navigate] => [use(Path), navigate];
const useShownSearch = (): string => use(Search);

/** The first page is drawn together with its frame, because no click waits for an answer. */
let isArrival = true;

/**
 * Follows the address at the pace at which pages are drawn: null until the first one is. The navigation
 * answers a click at once; the next page is drawn in pieces between which the browser handles input. Filters
 * and tabs change only the search part, which is not delayed, so their choice is visible at once.
 */
export function useShownPlace(): Place | null {
  const [path] = useLocation();
  const search = useSearch();
  const drawn = usePainted(`${path}?${search}`, isArrival);
  useEffect(() => {
    isArrival = false;
  }, []);
  if (drawn === null) return null;
  const end = drawn.indexOf('?');
  const drawnPath = drawn.slice(0, end);
  return { path: drawnPath, search: drawnPath === path ? search : drawn.slice(end + 1) };
}

/** Provides the address to everything inside. */
export function PlaceProvider({ place, children }: { readonly place: Place; readonly children: ReactNode }) {
  const { environment, baseOf } = useViewer();
  const base = baseOf(environment);
  return (
    <Path value={base + place.path}>
      <Search value={place.search}>
        <Router base={base} hook={usePath} searchHook={useShownSearch}>
          {children}
        </Router>
      </Search>
    </Path>
  );
}
