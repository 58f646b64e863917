/** The ids that MJML draws at random: of a carousel, and of the checkbox behind a folded menu. */
const DRAWN =
  /\bmj-carousel-([\da-f]{16})-radio\b|<input type="checkbox" id="([\da-f]{16})" class="mj-menu-checkbox"/g;
const ID = /\b[\da-f]{16}\b/g;

/**
 * The html with the same ids each time that it is made of a source, so that a preview is what leaves. Those of another source differ:
 * a webmail may show two messages on one page. An id that is in the source is its author's.
 */
export function withSteadyIds(html: string, source: string): string {
  const drawn = [...html.matchAll(DRAWN)].map(([, carousel, menu]) => carousel ?? menu ?? '');
  const steady = new Map<string, string>();
  for (const id of drawn)
    if (!steady.has(id) && !source.includes(id)) steady.set(id, hashed(`${steady.size} ${source}`));
  return steady.size === 0 ? html : html.replace(ID, (id) => steady.get(id) ?? id);
}

/** An id as long as those that MJML draws. */
const hashed = (text: string): string =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16);
