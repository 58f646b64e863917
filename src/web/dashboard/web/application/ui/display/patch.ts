/** True where both are the same element with the same attributes and as many nodes in it. */
const isAlike = (one: Node, other: Node): boolean =>
  one.nodeType === Node.ELEMENT_NODE &&
  one.childNodes.length === other.childNodes.length &&
  one.cloneNode(false).isEqualNode(other.cloneNode(false));

/**
 * Makes one tree like another, and replaces no more than what differs: of a long message that is edited, the other sections are neither
 * laid out nor painted again on the thread that takes the keys.
 */
export function patch(shown: Node, next: Node): void {
  if (shown.isEqualNode(next)) return;
  if (!isAlike(shown, next)) return void shown.parentNode?.replaceChild(next, shown);
  const pairs = [...next.childNodes].map((each, index) => [shown.childNodes[index], each] as const);
  for (const [before, after] of pairs) if (before) patch(before, after);
}
