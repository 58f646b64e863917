import { Plugin, type Transaction } from 'prosemirror-state';

/** The stretches of a document that transactions have changed. */
function changedIn(transactions: readonly Transaction[]): readonly (readonly [number, number])[] {
  let changed: (readonly [number, number])[] = [];
  for (const map of transactions.flatMap((each) => each.mapping.maps)) {
    changed = changed.map(([from, to]) => [map.map(from, -1), map.map(to, 1)]);
    map.forEach((_from, _to, from, to) => {
      changed.push([from, to]);
    });
  }
  return changed;
}

/**
 * A tag that is typed or pasted as text becomes a chip; one that the author wrote as plain characters stays.
 */
export const chips = new Plugin({
  appendTransaction: (transactions, _, state) => {
    const changed = changedIn(transactions);
    if (changed.length === 0) return null;
    const { tr } = state;
    state.doc.descendants((node, at) => {
      for (const { 0: source, index } of node.text?.matchAll(/\{\{[^{}]+\}\}/g) ?? []) {
        const [start, end] = [at + index, at + index + source.length];
        if (!changed.some(([from, to]) => from < end && to > start)) continue;
        const [from, to] = [tr.mapping.map(at + index), tr.mapping.map(at + index + source.length)];
        tr.replaceWith(from, to, state.schema.node('liquid', { source }, [], node.marks));
      }
    });
    return tr.docChanged ? tr : null;
  },
});
