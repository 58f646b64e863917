import { type RefObject, useEffect, useState, useSyncExternalStore } from 'react';

const WIDE = window.matchMedia('(min-width: 1024px)');
const onWide = (listener: () => void): (() => void) => {
  WIDE.addEventListener('change', listener);
  return () => WIDE.removeEventListener('change', listener);
};

/** True where the window has room for a diagram that can be read, with a panel beside it. */
export const useIsWide = (): boolean => useSyncExternalStore(onWide, () => WIDE.matches);

/** The part of a window beyond its edges from which on an element is near. */
const NEAR = '25%';

/** True once the element has been in sight or nearly so. */
export function useIsNear(element: RefObject<Element | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (isNear || !element.current) return;
    const watch = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: NEAR },
    );
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [isNear, element]);
  return isNear;
}
