/** The system's theme, or the chosen one. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'posthorn theme';

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
}
