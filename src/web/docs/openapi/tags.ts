import type { Tag } from '../../../http/module.ts';

/** The group of a path, by its first segment after the version. */
export function tagOf(path: string, tags: readonly Tag[]): Tag {
  const segment =
    path
      .replace(/^\/v1\//, '')
      .replace(/^\//, '')
      .split('/')[0] ?? '';
  const tag = tags.find((each) => each.segment === segment);
  if (!tag) throw new Error(`${path} has no group in the documentation. Add a tag to its module.`);
  return tag;
}

/** The groups that these paths belong to, in the order of the documentation. */
export function tagsOf(
  paths: readonly string[],
  tags: readonly Tag[],
): readonly Pick<Tag, 'name' | 'description'>[] {
  const used = new Set(paths.map((path) => tagOf(path, tags)));
  return tags.filter((tag) => used.has(tag)).map(({ name, description }) => ({ name, description }));
}
