import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { isTyping } from '../../shell/keys.ts';

interface ListedRows {
  readonly body: RefObject<HTMLElement | null>;
  /** False for rows that lead nowhere. */
  readonly hasLinks: boolean;
  readonly count: number;
  /** The first and the last row that exist. */
  readonly first: number;
  readonly last: number;
  scrollTo(index: number): void;
}

/**
 * Moves through the rows of a list by keys. The Tab key reaches one of them, which is marked in the page
 * alone: as state of React it would render the list with each focus, and before the click on a row is
 * handled.
 */
export function useRowKeys({ body, hasLinks, count, first, last, scrollTo }: ListedRows) {
  const active = useRef(0);
  const marked = useRef<HTMLElement>(null);
  const wanted = useRef<number | null>(null);

  const rowAt = (index: number | null) =>
    body.current?.querySelector<HTMLElement>(`[data-row="${index}"]`) ?? null;
  const mark = () => {
    const row = rowAt(Math.min(Math.max(active.current, first), last));
    if (row === marked.current) return;
    if (marked.current) marked.current.tabIndex = -1;
    if (row) row.tabIndex = 0;
    marked.current = row;
  };
  useLayoutEffect(mark);

  const focusWanted = () => {
    const row = rowAt(wanted.current);
    if (!row) return;
    row.focus();
    wanted.current = null;
  };
  // A row that the keyboard goes to may not exist yet; it gets the focus once it does.
  useEffect(() => {
    if (wanted.current !== null) focusWanted();
  });
  const goTo = (index: number) => {
    const next = Math.min(Math.max(index, 0), count - 1);
    const row = rowAt(next);
    wanted.current = row ? null : next;
    active.current = next;
    row?.focus();
    scrollTo(next);
    focusWanted();
  };

  useEffect(() => {
    if (!hasLinks || count === 0) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      const isInside = body.current?.contains(document.activeElement) === true;
      const to = isInside
        ? targetOf(event.key, active.current, count)
        : /^[jk]$/.test(event.key)
          ? Math.max(active.current, first)
          : null;
      if (to === null) return;
      event.preventDefault();
      goTo(to);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });

  const onFocus = ({ target }: { readonly target: EventTarget }) => {
    if (!(target instanceof HTMLElement) || target.dataset.row === undefined) return;
    active.current = Number(target.dataset.row);
    mark();
  };
  return { onFocus };
}

/** The row that a key moves to; null for other keys. */
function targetOf(key: string, from: number, count: number): number | null {
  if (key === 'j' || key === 'ArrowDown') return from + 1;
  if (key === 'k' || key === 'ArrowUp') return from - 1;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : null;
}
