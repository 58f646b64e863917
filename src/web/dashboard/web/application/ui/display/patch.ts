/** A tree of that many elements is compared in one step; a longer one child by child. */
const MANY_ELEMENTS = 64;

// A frame has classes of its elements apart from those of the page: `instanceof` is false for all of them.
const isElement = (node: Node): node is Element => node.nodeType === Node.ELEMENT_NODE;
const isLong = (node: Node): boolean =>
  isElement(node) && node.getElementsByTagName('*').length > MANY_ELEMENTS;

/** True where both are the same in one step; a long tree counts as changed, and is looked at inside. */
const isSame = (one: Node | undefined, other: Node | undefined): boolean =>
  one !== undefined && other !== undefined && !isLong(one) && !isLong(other) && one.isEqualNode(other);

const isSameTag = (one: Node, other: Node): boolean =>
  isElement(one) && one.cloneNode(false).isEqualNode(other.cloneNode(false));

/**
 * Makes one tree like another in small steps, and replaces no more than what differs: of a long message that
 * is edited, the other sections are neither laid out nor painted again on the thread that takes the keys.
 */
export function* patch(shown: Node, next: Node): Generator<undefined> {
  yield;
  if (isSame(shown, next)) return;
  if (!isSameTag(shown, next)) return void shown.parentNode?.replaceChild(next, shown);
  const [before, after] = [[...shown.childNodes], [...next.childNodes]];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) {
    start++;
    yield;
  }
  let end = 0;
  while (end < shorter - start && isSame(before.at(-1 - end), after.at(-1 - end))) {
    end++;
    yield;
  }
  const [oldOnes, newOnes] = [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  ];
  const behind = before[before.length - end] ?? null;
  for (const [index, each] of newOnes.entries()) {
    const old = oldOnes[index];
    if (old) yield* patch(old, each);
    else shown.insertBefore(each, behind);
    yield;
  }
  for (const each of oldOnes.slice(newOnes.length)) {
    shown.removeChild(each);
    yield;
  }
}
