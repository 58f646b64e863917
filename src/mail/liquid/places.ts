import { piecesOf } from './pieces.ts';

/**
 * The offset of the first tag or output of a source that includes each of the names; a name that is in none
 * is absent.
 */
export function placesOf(source: string, names: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  let missing = [...new Set(names)];
  let at = 0;
  for (const { text, isLiquid } of piecesOf(source)) {
    if (missing.length === 0) break;
    if (isLiquid) {
      for (const name of missing) if (text.includes(name)) places.set(name, at);
      if (places.size > 0) missing = missing.filter((name) => !places.has(name));
    }
    at += text.length;
  }
  return places;
}

/**
 * A path with what makes it an argument of a filter or a name that the source sets, before it, and its
 * default, behind it.
 */
const USE =
  /([:,]\s*)?(?<![\w.'"-])(?:\b(assign|capture|for|tablerow|increment|decrement)\s+)?([A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\][]{0,200}\])*)(\s*\|\s*default\b)?/g;
/** A tag around text in which nothing is used. */
const UNREAD = /^\{%-?\s*(end)?(comment|doc|raw)\b/;
const QUOTED_MEMBER = /\[\s*(["'])([A-Za-z_][\w-]*)\1\s*\]/g;
const QUOTED = /"[^"]*"|'[^']*'/g;

/**
 * The paths of a source that have a default where they are used first. A name that a tag sets is not used
 * there.
 */
export function defaultedIn(source: string): ReadonlySet<string> {
  const uses = new Map<string, boolean>();
  let unread: string | null = null;
  for (const { text, isLiquid } of piecesOf(source)) {
    if (!isLiquid) continue;
    const [, end, block = null] = UNREAD.exec(text) ?? [];
    if (unread !== null) {
      if (end !== undefined && block === unread) unread = null;
      continue;
    }
    if (end === undefined) unread = block;
    const bare = text.replace(QUOTED_MEMBER, '.$2').replace(QUOTED, '""');
    for (const [, before, sets, path = '', filter] of bare.matchAll(USE))
      if (sets === undefined && !uses.has(path)) uses.set(path, before === undefined && filter !== undefined);
  }
  return new Set([...uses].flatMap(([path, isDefaulted]) => (isDefaulted ? [path] : [])));
}

const OUTPUT = /^\{\{-?\s*([^\s|}]+)\s*(?:\|\s*(\w*))?/;
const CONDITION = /^\{%-?\s*(?:if|unless|elsif)\b/;
/** The longest path of a contact that is read. */
const PATH = /\bcontact[\w.[\]'"-]{0,200}/g;

/**
 * The values of contacts in a source: those that are written out without a default, and those that a
 * condition asks for.
 */
export interface ContactUses {
  /** Offsets of the first outputs, by the paths of their values. */
  readonly written: ReadonlyMap<string, number>;
  readonly conditions: ReadonlySet<string>;
}

/** Reads the Liquid of a source once, in time that grows with its length alone. */
export function contactUsesIn(source: string): ContactUses {
  const written = new Map<string, number>();
  const conditions = new Set<string>();
  let at = 0;
  for (const { text, isLiquid } of piecesOf(source)) {
    if (isLiquid && text.startsWith('{{')) {
      const [, path, filter] = OUTPUT.exec(text) ?? [];
      if (path?.startsWith('contact.') && filter !== 'default' && !written.has(path)) written.set(path, at);
    } else if (isLiquid && CONDITION.test(text))
      // `contact.properties.tags.size` asks for `contact.properties.tags` as well.
      for (const [path] of text.matchAll(PATH))
        for (const { index } of `${path}.`.matchAll(/[.[]/g)) conditions.add(path.slice(0, index));
    at += text.length;
  }
  return { written, conditions };
}
