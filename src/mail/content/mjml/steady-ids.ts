/** The ids that MJML draws at random: of a carousel, and of the checkbox behind a folded menu. */
const DRAWN =
  /\bmj-carousel-([\da-f]{16})-radio\b|<input type="checkbox" id="([\da-f]{16})" class="mj-menu-checkbox"/g;
const ID = /\b[\da-f]{16}\b/g;

/**
 * The html with the same ids each time that it is made of a source, so that a preview is what leaves. Those
 * of another source differ: a webmail may show two messages on one page. An id that is in the source is its
 * author's.
 */
export function withSteadyIds(html: string, source: string): string {
  const drawn = [...html.matchAll(DRAWN)].map(([, carousel, menu]) => carousel ?? menu ?? '');
  const steady = new Map<string, string>();
  if (drawn.length === 0) return html;
  const authored = new Set(source.match(ID));
  // A source of 1 MB has 1,900 menus: it is searched and hashed once, not for each.
  const digest = hashed(source);
  for (const id of drawn)
    if (!steady.has(id) && !authored.has(id)) steady.set(id, hashed(`${steady.size} ${digest}`).slice(0, 16));
  return html.replace(ID, (id) => steady.get(id) ?? id);
}

const hashed = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex');
