import { useEffect, useState, useSyncExternalStore } from 'react';
import { agoText, momentTitle } from './format.ts';

/** One clock for all times of the page; what is shown changes by the minute at the most. */
const EVERY_MS = 20_000;
let now = Date.now();
let timer = 0;
const listeners = new Set<() => void>();
const tick = () => {
  now = Date.now();
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  if (listeners.size === 0) timer = window.setInterval(tick, EVERY_MS);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.clearInterval(timer);
  };
};

/** A time as its distance from now; the moment itself, with its zone, is shown beside the pointer. */
export function Time({ at, none = '–' }: { readonly at: string | null; readonly none?: string }) {
  useSyncExternalStore(subscribe, () => now);
  if (at === null) return <span className="text-faint">{none}</span>;
  return (
    <time dateTime={at} title={momentTitle(at)} className="num whitespace-nowrap">
      {agoText(at)}
    </time>
  );
}

/** The current time, updated at each interval. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  return now;
}
