import { defaultedIn } from '../../../mail/liquid/places.ts';
import type { StoredContent } from './content.ts';

/** Names that the service fills in where there is something to fill in. */
const FILLED_LATER = /^(?:unsubscribeUrl|preferencesUrl)\b/;

/** Values of campaigns and flows alone: people may leave these. */
const OF_LISTS: ReadonlySet<string> = new Set(['contact', 'campaign', 'event']);
const rootOf = (path: string): string => path.split(/[.[]/, 1)[0] ?? '';

/** True of a name that only campaigns and flows fill in. */
export const isOfLists = (path: string): boolean => OF_LISTS.has(rootOf(path));

/**
 * True of content that people may leave. Without such a value and the link it is a receipt, or a new
 * password.
 */
export const isForLists = ({ names }: Pick<StoredContent, 'names'>): boolean =>
  names.some((path) => isOfLists(path) || rootOf(path) === 'unsubscribeUrl');

/** Used names that have no value and no `default`. */
export function missingIn(content: StoredContent, names: Readonly<Record<string, unknown>>): string[] {
  const empty = content.names.filter((path) => {
    if (FILLED_LATER.test(path)) return false;
    const value = path.split(/[.[\]'"]+/).reduce<unknown>(memberOf, names);
    return value === undefined || value === null;
  });
  return undefaulted(content, empty);
}

/** The names among those that have no `default` where they are first used. */
export function undefaulted(content: StoredContent, names: readonly string[]): string[] {
  const written = [
    content.subject,
    content.previewText,
    content.html,
    content.markdown,
    content.mjml,
    ...(content.layered ? [content.sources.html, content.layered.body] : []),
    content.text,
  ].join('\n');
  const defaulted = defaultedIn(written);
  return names.filter((path) => !defaulted.has(path));
}

function memberOf(value: unknown, name: string): unknown {
  if (name === '') return value;
  if (typeof value === 'string') return name === 'size' ? value.length : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, name)) return (value as Readonly<Record<string, unknown>>)[name];
  return madeOf(value, name);
}

/** The names by which Liquid knows the length and the ends of what has no such members. */
function madeOf(value: object, name: string): unknown {
  if (name === 'size') return Object.keys(value).length;
  if (!Array.isArray(value)) return undefined;
  return name === 'first' ? value[0] : name === 'last' ? value.at(-1) : undefined;
}
