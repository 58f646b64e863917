import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useChanges } from '../api/changes.ts';
import { pages } from '../pages/pages.ts';
import { pageNameOf } from './navigation.tsx';

/** A connection that returns within this time shows no message. */
const MISSED_MS = 2_000;

/** Keeps the page up to date, and shows a message while it cannot. */
export function ConnectionNote() {
  const connection = useChanges();
  const [isMissed, setMissed] = useState(false);
  const [path] = useLocation();
  const isShownThere = pages.some((page) => page.name === pageNameOf(path) && page.showsConnection === true);
  useEffect(() => {
    if (connection !== 'lost') return setMissed(false);
    const timer = setTimeout(() => setMissed(true), MISSED_MS);
    return () => clearTimeout(timer);
  }, [connection]);
  return (
    <div
      role="status"
      data-connection={connection}
      data-color="waiting"
      className="pointer-events-none fixed inset-x-4 top-3 z-40 grid justify-items-center"
    >
      {isMissed && !isShownThere && (
        <p className="toast w-auto! pr-4">
          <span aria-hidden="true" className="size-2 shrink-0 rounded-full bg-(--state)" />
          Connection lost. The data may be out of date. Reconnecting…
        </p>
      )}
    </div>
  );
}
