import type { Slot } from '../../../mail/liquid/engine.ts';
import type { AuthoredPart, PartSlots } from '../../../mail/liquid/parts.ts';
import { FALLBACKS } from '../../../mail/liquid/tags/render-tag.ts';
import { placeAt } from '../../../platform/text/places.ts';
import type { VariableView } from '../model.ts';
import type { TemplateKind } from './layer-model.ts';

/** A part that the author of a template, a layout or a partial writes. */
type Sources = { readonly [Part in AuthoredPart]: string | null };

/** A source with its places that others fill. */
export interface LayerSource {
  /** The name in messages; null for the template that is being saved. */
  readonly name: string | null;
  readonly sources: Sources;
  readonly slots: PartSlots;
}

/** A partial that fills a place. */
export interface PartialSource extends LayerSource {
  readonly variables: readonly VariableView[];
  /** The part of it that goes into a part of another template. */
  partFor(part: AuthoredPart): AuthoredPart;
}

/** A layer that a version was made of: a layout or a partial, in the version that was published then. */
export interface PinnedLayer {
  readonly templateId: string;
  readonly kind: TemplateKind;
  readonly version: number;
}

/** A stretch of a composed source with the place that it was taken from. */
export interface Stretch {
  /** Its offset in the composed source. */
  readonly at: number;
  /** Null for the template itself. */
  readonly layer: string | null;
  /** Its place in the source of that layer, both from 1. */
  readonly line: number;
  readonly column: number;
}

/** A source into which layers were put, with the stretches that it consists of. */
export interface Composed {
  readonly text: string;
  readonly stretches: readonly Stretch[];
}

/** The most characters of a composed source. */
export const LONGEST_COMPOSED = 1_048_576;

/** Thrown while a source grows beyond `LONGEST_COMPOSED`. */
export class TooLong extends Error {}

/** Puts sources together, and remembers where each stretch comes from. */
class Writer {
  text = '';
  readonly stretches: Stretch[] = [];

  /** Adds characters of a layer; `begin` is their offset in its source. */
  take(layer: LayerSource, source: string, begin: number, end: number): void {
    if (end <= begin) return;
    this.write(layer, source, begin, source.slice(begin, end));
  }

  /** Adds what was composed before. */
  put({ text, stretches }: Composed): void {
    for (const stretch of stretches) this.stretches.push({ ...stretch, at: stretch.at + this.text.length });
    this.#add(text);
  }

  /** Adds what the service writes in the place of a tag at an offset of a layer. */
  write(layer: LayerSource, source: string, at: number, text: string): void {
    this.stretches.push({ at: this.text.length, layer: layer.name, ...placeAt(source, at) });
    this.#add(text);
  }

  #add(text: string): void {
    this.text += text;
    if (this.text.length > LONGEST_COMPOSED) throw new TooLong();
  }
}

/**
 * A source with its partials and, in a layout, its content written into it. A partial becomes a block that
 * sees its parameters alone, so a version is one source that is compiled once, and an email costs what it
 * costs without layers.
 */
export class Composer {
  readonly #made = new Map<string, Composed>();

  constructor(private readonly partials: ReadonlyMap<string, PartialSource>) {}

  /** @throws TooLong */
  compose(layer: LayerSource, part: AuthoredPart, content: Composed | null): Composed | null {
    const source = layer.sources[part];
    if (source === null) return null;
    const writer = new Writer();
    let from = 0;
    for (const slot of layer.slots[part] ?? []) {
      const [before, after] = trimmed(source, slot);
      writer.take(layer, source, from, before);
      if (slot.partial === null) {
        if (content) writer.put(content);
      } else this.#putPartial(writer, layer, { source, part, slot });
      from = after;
    }
    writer.take(layer, source, from, source.length);
    return { text: writer.text, stretches: writer.stretches };
  }

  #putPartial(
    writer: Writer,
    layer: LayerSource,
    place: { readonly source: string; readonly part: AuthoredPart; readonly slot: Slot },
  ): void {
    const { source, part, slot } = place;
    const partial = this.partials.get(slot.partial ?? '');
    if (!partial) throw new Error('A partial was not looked up.');
    const body = this.#ofPartial(partial, partial.partFor(part));
    const isRaw = part === 'mjml' && isElement(body.text) && !isInRaw(source, slot);
    const isApart = part === 'mjml' && isElement(body.text);
    const gap = part === 'markdown' && isAlone(source, slot) ? '\n\n' : '';
    const begin = `{% render ${parametersOf(slot, partial)} %}`;
    const [open, close] = isApart ? ['<mj-raw>', '</mj-raw>'] : ['', ''];
    writer.write(layer, source, slot.begin, `${isRaw ? open : ''}${begin}${close}${gap}`);
    writer.put(body);
    writer.write(layer, source, slot.begin, `${gap}${open}{% endrender %}${isRaw ? close : ''}`);
  }

  #ofPartial(partial: PartialSource, part: AuthoredPart): Composed {
    const key = `${partial.name} ${part}`;
    const made = this.#made.get(key) ?? this.compose(partial, part, null);
    if (!made) throw new Error('A partial lacks the part that was asked for.');
    this.#made.set(key, made);
    return made;
  }
}

/** The offsets before and after a place, without the white space that its hyphens take away. */
function trimmed(source: string, { begin, end }: Slot): readonly [before: number, after: number] {
  const before = source[begin + 2] === '-' ? source.slice(0, begin).trimEnd().length : begin;
  const rest = source.slice(end);
  const after = source[end - 3] === '-' ? end + rest.length - rest.trimStart().length : end;
  return [before, after];
}

/** True of MJML that stands between elements, where MJML leaves out tags unless in `<mj-raw>`. */
const isElement = (body: string): boolean => /^\s*<mj-/.test(body);
const isInRaw = (source: string, { begin, end }: Slot): boolean =>
  /<mj-raw>\s*$/.test(source.slice(0, begin)) && /^\s*<\/mj-raw>/.test(source.slice(end));

/** True where a place has a line for itself. */
const isAlone = (source: string, { begin, end }: Slot): boolean =>
  /(?:^|\n)[ \t]*$/.test(source.slice(0, begin)) && /^[ \t]*(?:\n|$)/.test(source.slice(end));

/** The parameters of a block: those that are written, and the fallbacks of the partial. */
function parametersOf({ written }: Slot, { variables }: PartialSource): string {
  const fallbacks = variables.filter(({ fallback }) => fallback !== null);
  if (fallbacks.length === 0) return written.trim();
  const json = JSON.stringify(Object.fromEntries(fallbacks.map(({ key, fallback }) => [key, fallback])));
  const given = written.trim().replace(/,$/, '');
  return `${given}${given === '' ? '' : ', '}${FALLBACKS}: "${encodeURIComponent(json)}"`;
}

const PLACE = /^Line (\d+), column (\d+): /;

/**
 * The place that a message of a problem begins with, and the rest of the message; null where it names none.
 */
export function placeIn(
  message: string,
): { readonly line: number; readonly column: number; readonly rest: string } | null {
  const [whole, line, column] = PLACE.exec(message) ?? [];
  return whole === undefined
    ? null
    : { line: Number(line), column: Number(column), rest: message.slice(whole.length) };
}

/** The message of a problem in a composed source, with the place that its author knows. */
export function placed(message: string, { text, stretches }: Composed): string {
  const told = placeIn(message);
  if (told === null) return message;
  const { rest } = told;
  const { layer, ...place } = originOf({ text, stretches }, told.line, told.column);
  const at = `Line ${place.line}, column ${place.column}`;
  return layer === null ? `${at}: ${rest}` : `${at} of ${layer}: ${rest}`;
}

/** The layer of a place in a composed source, with the place there. */
export function originOf({ text, stretches }: Composed, line: number, column: number): Omit<Stretch, 'at'> {
  let start = 0;
  for (let passed = 1; passed < line; passed++) start = text.indexOf('\n', start) + 1;
  const at = start + column - 1;
  const stretch = stretches.findLast((each) => each.at <= at) ?? { at: 0, layer: null, line: 1, column: 1 };
  const lines = text.slice(stretch.at, at).split('\n');
  const last = lines.at(-1) ?? '';
  return {
    layer: stretch.layer,
    line: stretch.line + lines.length - 1,
    column: lines.length === 1 ? stretch.column + last.length : last.length + 1,
  };
}
