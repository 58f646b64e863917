// Fixes for the library's gaps in screen reader and keyboard support (WCAG 2.2: 1.3.1, 2.1.1, 2.5.3 and
// 4.1.2, as axe reports).

/** A selector of broken elements, and the fix for each. A fixed element no longer matches its selector. */
const MENDS: readonly (readonly [string, (element: HTMLElement) => void])[] = [
  // The name begins with the visible words, so that speech control finds it.
  [
    'button.show-more[aria-label^="Show all"]',
    (button) => {
      button.ariaLabel = `${button.textContent?.trim()}: ${button.ariaLabel?.replace('Show all', 'all')}`;
    },
  ],
  [
    'button.scalar-code-copy:not([aria-label])',
    (button) => {
      button.ariaLabel = 'Copy';
    },
  ],
  // The page has its own banner.
  [
    'header:not([role])',
    (header) => {
      header.role = 'none';
      const { parentElement: parent } = header;
      if (!parent || parent.role) return;
      parent.role = 'navigation';
      parent.ariaLabel = 'Contents';
    },
  ],
  // The responses of a request are no place of the page: many requests have the same, and would be named
  // alike.
  [
    '.scalar-card[role="region"]',
    (card) => {
      card.role = 'group';
    },
  ],
  [
    'ul.endpoints:not([tabindex])',
    (list) => {
      list.tabIndex = 0;
    },
  ],
];

/** Mends what the library draws, now and later. */
export function makeAccessible(root: HTMLElement): void {
  const mend = (): void => {
    for (const [selector, act] of MENDS)
      for (const element of root.querySelectorAll<HTMLElement>(selector)) act(element);
  };
  new MutationObserver(mend).observe(root, { childList: true, subtree: true });
  mend();
}
