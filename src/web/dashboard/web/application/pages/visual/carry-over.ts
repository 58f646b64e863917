import type { History, KeptDesign } from './history.ts';
import { choicesOf } from './source/edit.ts';
import { contentOf } from './source/tree.ts';

/** The HTML blocks of a history, in the order of the message. */
const htmlIn = ({ design }: History) =>
  (design ? choicesOf(design) : []).flatMap(({ block }) =>
    block?.kind === 'html' || block?.kind === 'marker'
      ? [{ id: block.id, content: contentOf(block.element) }]
      : [],
  );

/** True while HTML waits to become whole. */
export const isUnfinished = ({ history, unfinished, orphans }: KeptDesign): boolean =>
  orphans.length > 0 ||
  (history?.design ? choicesOf(history.design).some(({ id }) => unfinished.has(id)) : unfinished.size > 0);

/**
 * Finds the blocks of unfinished HTML again in a source that was read again, by their content and their
 * order.
 */
export function carryOver({ unfinished, orphans }: KeptDesign, before: History, after: History): void {
  const known = htmlIn(before).filter(({ id }) => unfinished.has(id));
  const free = htmlIn(after);
  const typed = known.map(({ id, content }) => ({ content, html: unfinished.get(id) ?? '' }));
  unfinished.clear();
  for (const { content, html } of typed) {
    const at = free.findIndex((each) => each.content === content);
    const [found] = at === -1 ? [] : free.splice(at, 1);
    if (found) unfinished.set(found.id, html);
    else orphans.push(html);
  }
}
