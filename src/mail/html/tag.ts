import { Parser } from 'htmlparser2';
import type { Attributes } from './hidden.ts';

/** The longest tag whose attributes are read. */
const LONGEST_TAG = 65_536;

export const isReadable = (start: number, end: number): boolean => end - start <= LONGEST_TAG;

/** The attributes of the tag at that position, the first of each name, their character references read. */
export function attributesOf(html: string, start: number, end: number): Attributes {
  let found: Attributes = {};
  const parser = new Parser({
    onopentag(_name, attributes) {
      found = attributes;
      parser.pause();
    },
  });
  if (isReadable(start, end)) parser.write(html.slice(start, end));
  return found;
}
