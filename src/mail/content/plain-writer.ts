/**
 * The deepest indentation of quotes and lists. The prefix is repeated on every line, so the text would grow
 * with the square of the depth.
 */
const DEEPEST_PREFIX = 16;

/**
 * The characters that would be read as a part of the address before them: words, signs and what opens a
 * bracket; no full stop and no comma.
 */
const RUNS_ON = /^[\p{L}\p{N}\p{S}\p{Ps}\p{Pi}\p{Pc}\p{Pd}@#&/\\*%]/u;
/**
 * The end of a text behind which an address needs a space. It is asked of the last two units alone: of a
 * whole text it would be searched for.
 */
const ENDS_IN_WORD = /[\p{L}\p{N}\p{S}\p{Pc}\p{Pd}@#&/\\*%)\]]$/u;
/** A number, which no word ends in: a name such as R2D2 is none, nor is what takes the place of one. */
const ENDS_IN_NUMBER = /(?:^|[^\p{L}\p{N}])\d{1,20}$|\}$/u;

interface Prefix {
  /** For the next line only: the bullet of a list item. */
  first: string | null;
  readonly rest: string;
}

/**
 * Lays text out in lines as a reader of plain text expects it: white space collapsed, blocks apart, quotes
 * and lists prefixed. Everything is written once and in order, so that the cost grows with the length alone.
 */
export class PlainWriter {
  /** Pieces, joined once at the end: reading a part of a growing string copies the whole each time. */
  readonly #pieces: string[] = [];
  #length = 0;
  /** Line breaks owed before the next text; none are written at the start and at the end. */
  #breaks = 0;
  /** White space owed before the next text of the same line. */
  #space = '';
  /** The last text is an address: what would run on from it has a space before it. */
  #isAddress = false;
  readonly #prefixes: Prefix[] = [];
  /** The fewest prefixes since the last text, which an empty line in between has. */
  #shallowest = 0;
  /** The number of open prefixes beyond the deepest one. */
  #ignored = 0;

  /** Characters written so far. */
  get length(): number {
    return this.#length;
  }

  /** The position of the next text, for `since`. */
  get position(): number {
    return this.#pieces.length;
  }

  /** The text written from that position on. */
  since(position: number): string {
    return this.#pieces.slice(position).join('').trim();
  }

  /** Writes a text in the place of what was written from that position on, which is not empty. */
  instead(position: number, text: string): void {
    const former = this.#pieces.splice(position + 1);
    this.#pieces.push(text);
    this.#length += text.length - former.join('').length;
    this.endAddress();
  }

  /** Puts a mark before and behind the text that was written from that position on, if there is any. */
  mark(position: number, mark: string): void {
    const first = this.#pieces[position + 1];
    if (first === undefined) return;
    this.#pieces[position + 1] = mark + first;
    this.#pieces.push(this.#isAddress ? ` ${mark}` : mark);
    this.#length += 2 * mark.length;
    this.#isAddress = false;
  }

  /** Running text: white space, line breaks included, is one space. */
  flow(text: string): void {
    const collapsed = text.replace(/[ \t\r\n\f\u00a0]+/g, ' ');
    if (collapsed.startsWith(' ')) this.gap(' ');
    const words = collapsed.trim();
    if (words !== '') this.#put(words);
    if (collapsed.endsWith(' ')) this.gap(' ');
  }

  /** Preformatted text: kept as it is. */
  verbatim(text: string): void {
    text.split(/\r?\n/).forEach((line, index) => {
      if (index > 0) this.lineBreak();
      if (line !== '') this.#put(line);
    });
  }

  /** True where the next text stands directly behind a number, or behind a placeholder, which may be one. */
  get isBehindNumber(): boolean {
    return (
      this.#breaks === 0 && this.#space === '' && ENDS_IN_NUMBER.test(this.#pieces.at(-1)?.slice(-24) ?? '')
    );
  }

  /** White space between two texts of one line. */
  gap(space: string): void {
    if (space.length > this.#space.length) this.#space = space;
  }

  /** An address by itself, apart from the words around it. */
  address(address: string): void {
    if (address === '') return;
    if (ENDS_IN_WORD.test(this.#pieces.at(-1)?.slice(-2) ?? '')) this.gap(' ');
    this.flow(address);
    this.endAddress();
  }

  /** The text before is an address, or ends in one. */
  endAddress(): void {
    this.#isAddress = true;
  }

  /** A line break that counts even after another one. */
  lineBreak(): void {
    this.#breaks++;
    this.#space = '';
  }

  /** Ensures at least so many line breaks before the next text. */
  apart(breaks: 1 | 2): void {
    if (this.#breaks < breaks) this.#breaks = breaks;
    this.#space = '';
  }

  /** Begins every line from here with `rest`, the next one with `first`. */
  indent(rest: string, first: string | null = null): void {
    if (this.#prefixes.length < DEEPEST_PREFIX) this.#prefixes.push({ first, rest });
    else this.#ignored++;
  }

  /** Ends what the last `indent` began. */
  outdent(): void {
    if (this.#ignored > 0) this.#ignored--;
    else this.#prefixes.pop();
    this.#shallowest = Math.min(this.#shallowest, this.#prefixes.length);
  }

  toString(): string {
    return this.#pieces.join('');
  }

  #put(text: string): void {
    const space = this.#space === '' && this.#isAddress && RUNS_ON.test(text) ? ' ' : this.#space;
    const before = this.#length === 0 ? this.#prefix() : this.#breaks > 0 ? this.#newLines() : space;
    this.#isAddress = false;
    this.#pieces.push(before, text);
    this.#length += before.length + text.length;
    this.#breaks = 0;
    this.#space = '';
    this.#shallowest = this.#prefixes.length;
  }

  /** More than one empty line in a row is one. */
  #newLines(): string {
    if (this.#breaks === 1) return `\n${this.#prefix()}`;
    const shared = this.#prefixes.slice(0, this.#shallowest).map(({ rest }) => rest);
    return `\n${shared.join('').trimEnd()}\n${this.#prefix()}`;
  }

  /** The prefix of the next line. */
  #prefix(): string {
    let prefix = '';
    for (const level of this.#prefixes) {
      prefix += level.first ?? level.rest;
      level.first = null;
    }
    return prefix;
  }
}
