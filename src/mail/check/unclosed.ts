/**
 * Elements whose end tag HTML does not let an author leave out (HTML Living Standard, 13.1.2.4), as far as
 * emails use them.
 */
const ENDED: ReadonlySet<string> = new Set(
  'a b strong i em u s span font center div section article header footer main table ul ol dl h1 h2 h3 h4 h5 h6 blockquote pre code button title style'.split(
    ' ',
  ),
);

interface WrittenTag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly endsItself: boolean;
}

/** The tags that begin such an element and are closed nowhere, by their names. */
export function unclosedTags<Tag extends WrittenTag>(tags: readonly Tag[]): readonly Tag[] {
  const open = new Map<string, Tag[]>();
  for (const tag of tags) {
    if (!ENDED.has(tag.name)) continue;
    const same = open.get(tag.name) ?? [];
    if (tag.isEnd) same.pop();
    else if (!tag.endsItself) same.push(tag);
    open.set(tag.name, same);
  }
  return [...open.values()].flat();
}

/**
 * The tags of a source that are closed nowhere, also once it is rendered: of the branches of a block, both
 * may open what is closed behind it. None where the source was not read to its end.
 */
export function unclosedInBoth<Tag extends WrittenTag>(
  { tags, isWhole }: { readonly tags: readonly Tag[]; readonly isWhole: boolean },
  rendered: readonly WrittenTag[],
): readonly Tag[] {
  if (!isWhole) return [];
  const names = new Set(unclosedTags(rendered).map(({ name }) => name));
  return unclosedTags(tags).filter(({ name }) => names.has(name));
}
