import { useEffect, useRef } from 'react';

const STORED = 'posthorn single keys';

/** True when keys act that are pressed alone. Who speaks to the computer turns them off (WCAG 2.1.4). */
export const singleKeys = {
  areOn: (): boolean => localStorage.getItem(STORED) !== 'off',
  turn: (on: boolean): void => (on ? localStorage.removeItem(STORED) : localStorage.setItem(STORED, 'off')),
};

/** True for keys that go into a field, an editor in a shadow tree included. */
export function isTyping(target: EventTarget | null): boolean {
  if (!singleKeys.areOn()) return true;
  const inside = target instanceof HTMLElement ? (target.shadowRoot?.activeElement ?? target) : null;
  return (
    inside instanceof HTMLElement &&
    (inside.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(inside.tagName)) &&
    !(inside instanceof HTMLInputElement && /^(checkbox|radio|button|range)$/.test(inside.type))
  );
}

/** Two keys within this time form one shortcut. */
const SEQUENCE_MS = 1_000;

/**
 * Acts on keys. `mod k` is with Ctrl or Cmd and acts in fields as well; `g e` is one key after the other;
 * none acts while a dialog is open.
 */
export function useKeys(acts: Readonly<Record<string, () => void>>): void {
  const latest = useRef(acts);
  useEffect(() => {
    latest.current = acts;
  });
  useEffect(() => {
    let before = { key: '', at: 0 };
    const onKey = (event: KeyboardEvent) => {
      const isMod = event.metaKey || event.ctrlKey;
      // The space bar presses the button that has the focus.
      if (event.key === ' ' && event.target instanceof HTMLButtonElement) return;
      if (event.altKey || event.isComposing || event.defaultPrevented) return;
      if (!isMod && (isTyping(event.target) || document.querySelector('dialog[open]'))) return;
      const pair = event.timeStamp - before.at < SEQUENCE_MS ? `${before.key} ${event.key}` : '';
      const act = isMod
        ? latest.current[`mod ${event.key.toLowerCase()}`]
        : (latest.current[pair] ?? latest.current[event.key]);
      before = { key: event.key, at: event.timeStamp };
      if (!act) return;
      event.preventDefault();
      before = { key: '', at: 0 };
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
