import { attributeText, plainText } from './escape.ts';
import { maskedLiquid, piecesOf, type Stretch } from './liquid.ts';

/** One attribute of a tag: its name, and the stretches of it and of its value. */
interface Attribute extends Stretch {
  readonly name: string;
  readonly value: Stretch | null;
}

/** It begins with the first white space of a stretch: from each it would read the whole stretch again. */
const ATTRIBUTE = /(?<!\s)\s+([^\s=>"'/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/dg;
const NAME = /^<[^\s/>]+/;

function attributesIn(tag: string): readonly Attribute[] {
  const masked = maskedLiquid(tag);
  const from = NAME.exec(masked)?.[0].length ?? 0;
  const attributes: Attribute[] = [];
  for (const { 1: name = '', indices } of masked.slice(from).matchAll(ATTRIBUTE)) {
    const [whole, , ...values] = indices ?? [];
    const value = values.find((each) => each !== undefined);
    attributes.push({
      name,
      start: from + (whole?.[0] ?? 0),
      end: from + (whole?.[1] ?? 0),
      value: value ? { start: from + value[0], end: from + value[1] } : null,
    });
  }
  return attributes;
}

/** The attributes of a tag, by their names, as a person reads them. Of two with one name the first counts. */
export function attributesOf(tag: string): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const { name, value } of attributesIn(tag))
    if (!values.has(name)) values.set(name, value ? plainText(tag.slice(value.start, value.end)) : '');
  return Object.fromEntries(values);
}

/** The tag with another value of an attribute, or without it. Everything else stays as it is written. */
export function withAttribute(tag: string, name: string, value: string | null): string {
  const known = attributesIn(tag).find((attribute) => attribute.name === name);
  if (value === null) return known ? tag.slice(0, known.start) + tag.slice(known.end) : tag;
  if (known?.value && plainText(tag.slice(known.value.start, known.value.end)) === value) return tag;
  const written = ` ${name}="${attributeText(value)}"`;
  if (known) return tag.slice(0, known.start) + written + tag.slice(known.end);
  const end = endOfAttributes(tag);
  return tag.slice(0, end) + written + tag.slice(end);
}

/** The place in a tag after its last attribute. */
export function endOfAttributes(tag: string): number {
  if (!tag.endsWith('>')) return tag.length;
  return tag.slice(0, tag.endsWith('/>') ? -2 : -1).trimEnd().length;
}

/** A tag that ends its element as one that begins it. */
export const asBeginning = (tag: string): string =>
  tag.endsWith('/>') ? `${tag.slice(0, endOfAttributes(tag))}>` : tag;

/**
 * True of an address that a link may lead to: pasted markup may hold a script. A tag of Liquid writes one.
 */
export const isFollowed = (href: string): boolean =>
  /^(?:https?|mailto|tel):/i.test(href) || piecesOf(href)[0]?.isLiquid === true;

/**
 * True when these are attributes of one tag that can do nothing, as they stand in it: pasted markup may hold
 * anything.
 */
export function isHarmless(written: string): boolean {
  const tag = `<a${written}>`;
  let from = '<a'.length;
  for (const { name, start, end } of attributesIn(tag)) {
    if (start !== from || /^on/i.test(name)) return false;
    from = end;
  }
  return from === endOfAttributes(tag) && !/[<>]/.test(maskedLiquid(written));
}
