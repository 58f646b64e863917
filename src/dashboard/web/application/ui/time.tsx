import { useSyncExternalStore } from 'react';
import { agoText, momentText } from './format.ts';

/** One clock for all times of the page; what is shown changes by the minute at the most. */
const EVERY_MS = 20_000;
let now = Date.now();
const subscribe = (listener: () => void) => {
  const timer = setInterval(() => {
    now = Date.now();
    listener();
  }, EVERY_MS);
  return () => clearInterval(timer);
};

/** A time as its distance from now; the moment itself is shown beside the pointer. */
export function Time({ at, none = '–' }: { readonly at: string | null; readonly none?: string }) {
  useSyncExternalStore(subscribe, () => now);
  if (at === null) return <span className="text-faint">{none}</span>;
  return (
    <time dateTime={at} title={momentText(at)} className="num whitespace-nowrap">
      {agoText(at)}
    </time>
  );
}
