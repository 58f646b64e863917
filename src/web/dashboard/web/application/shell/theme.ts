import { useSyncExternalStore } from 'react';

/** The system's theme, or the chosen one. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'posthorn theme';
const AFTER = { system: 'light', light: 'dark', dark: 'system' } as const satisfies Record<Theme, Theme>;
const listeners = new Set<() => void>();

/** The theme that was chosen last. */
export function chosenTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Shows the page in it, now and next time. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset.theme = theme;
  }
  for (const listener of listeners) listener();
}

/** Shows the page in the theme after the one that is chosen. */
export const applyNextTheme = (): void => applyTheme(AFTER[chosenTheme()]);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, chosenTheme);
