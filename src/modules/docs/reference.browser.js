// Makes the pages quicker to use; they read well without it. Keys: / filters, j and k go on and back, Escape clears.

const filter = document.querySelector('.filter input');
const links = [...document.querySelectorAll('.side a')];
const groups = [...document.querySelectorAll('.side section')];
const targetOf = (link) => document.getElementById(link.hash.slice(1));

function applyFilter() {
  const words = filter.value.toLowerCase().split(/\s+/);
  for (const link of links) {
    const text = link.textContent.toLowerCase();
    link.parentElement.hidden = !words.every((word) => text.includes(word));
  }
  for (const group of groups) group.hidden = !group.querySelector('li:not([hidden])');
}

/** The entry of what is at the top of the window. */
function current() {
  const passed = links.filter((link) => targetOf(link)?.getBoundingClientRect().top < 120);
  return passed.at(-1) ?? links[0];
}

function mark() {
  const shown = current();
  for (const link of links) link.toggleAttribute('aria-current', link === shown);
}

function step(by) {
  const visible = links.filter((link) => !link.closest('[hidden]'));
  const next = visible[Math.max(0, visible.indexOf(current()) + by)];
  if (!next) return;
  location.hash = next.hash;
  next.scrollIntoView({ block: 'nearest' });
}

filter.addEventListener('input', applyFilter);
filter.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') links.find((link) => !link.closest('[hidden]'))?.click();
  if (event.key !== 'Escape') return;
  filter.value = '';
  filter.blur();
  applyFilter();
});

document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === '/') {
    event.preventDefault();
    filter.focus();
  }
  if (event.key === 'j') step(1);
  if (event.key === 'k') step(-1);
});

addEventListener('scroll', mark, { passive: true });
mark();
