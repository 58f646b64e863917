import { type HtmlReading, readHtml } from '../../mail/html/read-html.ts';

/** The results of reading an html part: its structure as mail programs see it, and its text part. */
export interface ReadParts {
  readonly reading: HtmlReading;
  readonly text: string;
}

/** An html part around one word that differs between recipients, such as their first name. */
export interface Frame {
  readonly reading: HtmlReading;
  readonly before: string;
  readonly after: string;
  /** The text part around the word. */
  readonly textBefore: string;
  readonly textAfter: string;
}

/** Longer parts are read each time, and those with a longer text part: it is cut off at a length. */
const LONGEST = 65_536;
const LONGEST_TEXT = 131_072;
const MOST_FRAMES = 8;
/** After html in which no word could be found, so many others are not looked at. */
const REST = 64;

/** A name. With a space in it, it would be two attributes where no quotes are around it. */
const WORD = /^\p{L}[\p{L}\p{N}]{0,63}(?:-[\p{L}\p{N}]{1,64}){0,3}$/u;
const LETTER = /[\p{L}\p{N}]/u;
/** The characters allowed before and after the word: none makes a tag, a reference or a longer word of it. */
const BEFORE = /[ >\n]/;
const AFTER = /[ <\n,.!?:)]/;
/** Takes the place of the word. It occurs in no text. */
export const HELD = `W${crypto.randomUUID().replaceAll('-', '')}`;

/** An html part as a frame that others have too, and its word. */
export class FramedHtml {
  constructor(
    readonly frame: Frame,
    readonly word: string,
  ) {}

  /** The frame with what takes the place of the word. */
  get held(): FramedHtml {
    return new FramedHtml(this.frame, HELD);
  }

  get html(): string {
    return this.frame.before + this.word + this.frame.after;
  }

  /** The same as reading it by itself gives. */
  get parts(): ReadParts {
    return withWord(this.frame, this.word);
  }
}

/**
 * Reads html that differs in one word between recipients once for all of them. A word of letters and digits
 * in text that is shown changes nothing around it, neither for a parser nor in the text part; a word that is
 * anywhere else, or twice, is not taken for one.
 */
export class PersonalWords {
  readonly #frames: Frame[] = [];
  #previous = '';
  #rests = 0;

  constructor(
    private readonly address: string,
    private readonly textFromHtml: (html: string) => string,
  ) {}

  /** Reads an html part; null where it has to be read by itself. */
  read(html: string): FramedHtml | null {
    if (html.length > LONGEST) return null;
    for (const frame of this.#frames) {
      const word = wordIn(html, frame);
      if (word !== null) return new FramedHtml(frame, word);
    }
    const previous = this.#previous;
    this.#previous = html;
    if (this.#rests > 0) {
      this.#rests--;
      return null;
    }
    const frame = this.#frameOf(previous, html);
    if (frame === null) return null;
    if (this.#frames.length >= MOST_FRAMES) this.#frames.shift();
    this.#frames.push(frame);
    const word = wordIn(html, frame);
    return word === null ? null : new FramedHtml(frame, word);
  }

  /** The frame that two parts have in common. */
  #frameOf(one: string, other: string): Frame | null {
    const shortest = Math.min(one.length, other.length);
    let begin = 0;
    while (begin < shortest && one[begin] === other[begin]) begin++;
    let end = 0;
    while (end < shortest - begin && one.at(-1 - end) === other.at(-1 - end)) end++;
    // Names that begin or end alike differ as a whole.
    while (begin > 0 && LETTER.test(one[begin - 1] ?? '')) begin--;
    while (end > 0 && LETTER.test(one.at(-end) ?? '')) end--;
    const [before, after] = [one.slice(0, begin), one.slice(one.length - end)];
    const words = [one, other].map((html) => html.slice(begin, html.length - end));
    const isWord = words.every((word) => WORD.test(word));
    if (!isWord || !BEFORE.test(before.at(-1) ?? '') || !AFTER.test(after[0] ?? '')) return null;
    const html = before + HELD + after;
    const texts = this.textFromHtml(html).split(HELD);
    const [textBefore, textAfter] = texts;
    const reading = readHtml(html, this.address);
    // A word that the text part has not, or has twice, is in a tag, or in what is not shown.
    const isShown = texts.length === 2 && reading.links.every(({ url }) => !url.includes(HELD));
    if (!isShown || textBefore === undefined || textAfter === undefined || isLong(textBefore + textAfter)) {
      this.#rests = REST;
      return null;
    }
    return { before, after, textBefore, textAfter, reading };
  }
}

const isLong = (text: string): boolean => text.length > LONGEST_TEXT;

/**
 * The word of an html part with that frame; null where it has another, or a word that is also elsewhere: an
 * address may consist of it.
 */
function wordIn(html: string, { before, after, reading }: Frame): string | null {
  if (html.length <= before.length + after.length) return null;
  if (!html.startsWith(before) || !html.endsWith(after)) return null;
  const word = html.slice(before.length, html.length - after.length);
  const isAlone = !before.includes(word) && !after.includes(word);
  return WORD.test(word) && isAlone && reading.links.every(({ url }) => !url.includes(word)) ? word : null;
}

function withWord({ before, textBefore, textAfter, reading }: Frame, word: string): ReadParts {
  const longer = word.length - HELD.length;
  const moved = (at: number): number => (at > before.length ? at + longer : at);
  return {
    text: textBefore + word + textAfter,
    reading: {
      ...reading,
      links: reading.links.map(({ start, end, url }) => ({ start: moved(start), end: moved(end), url })),
      begin: moved(reading.begin),
      end: moved(reading.end),
    },
  };
}
