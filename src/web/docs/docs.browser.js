// Makes the pages quicker to use; they read well without it. Keys: / or Ctrl K searches, Escape closes.

// The application keeps the chosen theme under the same name (src/web/dashboard/web/application/shell/theme.ts).
const THEME = 'posthorn theme';
const THEMES = ['system', 'light', 'dark'];
const root = document.documentElement;

function chosenTheme() {
  const stored = localStorage.getItem(THEME);
  return THEMES.includes(stored) ? stored : 'system';
}

function applyTheme(theme) {
  if (theme === 'system') {
    localStorage.removeItem(THEME);
    delete root.dataset.theme;
  } else {
    localStorage.setItem(THEME, theme);
    root.dataset.theme = theme;
  }
  dispatchEvent(new Event('themechange'));
}

// This file is loaded before the body, so that nothing is painted in another theme first.
applyTheme(chosenTheme());

function themeSwitch(button) {
  const tell = () => {
    button.textContent = { system: 'Auto', light: 'Light', dark: 'Dark' }[chosenTheme()];
    button.setAttribute('aria-label', `Theme: ${button.textContent}`);
  };
  button.addEventListener('click', () => {
    applyTheme(THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length]);
    tell();
  });
  tell();
  button.hidden = false;
}

function copyButton(figure) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  const copy = async () => {
    const code = figure.querySelector('code');
    // Without TLS browsers keep the clipboard from pages; then a press of a key does the rest.
    if (navigator.clipboard) await navigator.clipboard.writeText(code.textContent);
    else getSelection().selectAllChildren(code);
    button.textContent = navigator.clipboard ? 'Copied' : 'Selected';
    button.addEventListener('blur', () => (button.textContent = 'Copy'), { once: true });
  };
  button.addEventListener('click', () => void copy());
  figure.append(button);
}

/** Marks the section that is at the top of the window. */
function followSections(links) {
  const mark = () => {
    const passed = links.filter(
      (link) => document.getElementById(link.hash.slice(1))?.getBoundingClientRect().top < 130,
    );
    for (const link of links) link.removeAttribute('aria-current');
    (passed.at(-1) ?? links[0]).setAttribute('aria-current', 'location');
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

/** The places that hold every word, those first whose name begins with one. */
function found(places, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ label }) => (words.some((word) => label.toLowerCase().startsWith(word)) ? 0 : 1);
  return places
    .filter(({ label, page }) => words.every((word) => `${label} ${page}`.toLowerCase().includes(word)))
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, 12);
}

function search(opener) {
  const dialog = document.createElement('dialog');
  dialog.className = 'finder';
  dialog.setAttribute('aria-label', 'Search the documentation');
  const field = document.createElement('input');
  field.type = 'search';
  field.placeholder = 'Search guides, errors and requests';
  field.setAttribute('aria-label', 'Search');
  field.autocomplete = 'off';
  const list = document.createElement('ul');
  const none = document.createElement('p');
  none.setAttribute('role', 'status');
  dialog.append(field, list, none);
  document.body.append(dialog);
  /** All there is to find; null until it has been read. */
  let places = null;
  let reading = null;

  const show = () => {
    const isAsked = field.value.trim() !== '';
    const hits = isAsked && places ? found(places, field.value) : [];
    list.replaceChildren(
      ...hits.map(({ href, label, page }) => {
        const item = document.createElement('li');
        const link = document.createElement('a');
        const where = document.createElement('span');
        link.href = href;
        link.append(label);
        where.textContent = page;
        link.append(where);
        item.append(link);
        return item;
      }),
    );
    none.textContent = !isAsked || hits.length > 0 ? '' : places ? 'No results.' : 'Searching…';
  };
  const read = async () => {
    try {
      const answer = await fetch('/docs/search.json');
      places = answer.ok ? await answer.json() : null;
    } catch {
      places = null;
    }
    reading = null;
    show();
    if (places === null) none.textContent = 'The search is not available. Close it and try again.';
  };
  const ready = () => {
    if (!places) reading ??= read();
    return reading;
  };
  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    field.select();
    show();
    void ready();
  };
  const links = () => [...list.querySelectorAll('a')];
  field.addEventListener('input', show);
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || target.closest('a')) dialog.close();
  });
  dialog.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    // Keys typed before the index has arrived still count.
    if (event.key === 'Enter' && event.target === field)
      void Promise.resolve(ready()).then(() => dialog.open && links()[0]?.click());
    if (step === undefined) return;
    event.preventDefault();
    const at = links().indexOf(document.activeElement) + step;
    (links()[at] ?? field).focus();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    const isSlash = event.key === '/' && !isTyping && !event.metaKey && !event.ctrlKey && !event.altKey;
    if (!isSlash && !(event.key === 'k' && (event.metaKey || event.ctrlKey))) return;
    event.preventDefault();
    open();
  });
  opener.addEventListener('click', open);
  opener.hidden = false;
}

document.addEventListener('DOMContentLoaded', () => {
  themeSwitch(document.querySelector('.theme'));
  for (const figure of document.querySelectorAll('.snippet')) copyButton(figure);
  const links = [...document.querySelectorAll('.contents a')];
  if (links.length > 0) followSections(links);
  const opener = document.querySelector('.search');
  if (opener) search(opener);
});
