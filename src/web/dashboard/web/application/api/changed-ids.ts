/**
 * True where a change may be about the things of these ids. A query for one thing by its id is read again
 * only when the change names that id, or one of another kind, which may belong to it: a delivery to its
 * webhook. One message may name things of several kinds: another thing of the same kind in it says nothing of
 * this one.
 */
export const namesAll = (values: readonly string[], changed: readonly string[]): boolean =>
  values.every((value) => mayBe(value, changed));

function mayBe(value: string, changed: readonly string[]): boolean {
  const kind = `${kindOf(value)}_`;
  return changed.some((id) => id === value || !id.startsWith(kind));
}

/** The prefix of an id: `em` of `em_…`. */
function kindOf(id: string): string {
  const [kind = ''] = id.split('_');
  return kind;
}
