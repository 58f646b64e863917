import { Parser } from 'htmlparser2';
import { areLettersHidden, isHiddenInOutlook } from './hidden.ts';
import type { OpenElements } from './open-elements.ts';
import type { HidingRules } from './style-sheet.ts';
import { attributesOf } from './tag.ts';

/** All but what shows nothing: white space, and the marks of no width that fill up preview lines. */
const INK = /[^\s\p{Cc}\p{Cf}\p{Mn}\u115f\u1160\u2800\u3164]/u;

/** The places of the address that are looked at: what is shown at none of so many counts as hidden. */
const MOST_LOOKS = 100;

/** The beginning and the end of what Outlook for Windows alone reads, or leaves out. */
const CONDITION = /^\[if\s([^\]]*)\]/i;
const BARE: ReadonlySet<string> = new Set(['', '>', '><!', '><!--']);
const LONGEST_BARE = 40;
const CONDITION_END = /^\s*(?:<!)?\[endif\]/i;

/** Watches where an address is shown while html is read: as a link that holds something, or written out. */
export class ExitWatch {
  /** The places of the address in the html that were not reached yet. */
  readonly #places: number[] = [];
  /** The link to the address is open, from so many elements on; 0 outside. */
  #within = 0;
  #looks = 0;
  #isShownToAll = false;
  #isShownToOthers = false;
  #isShownToOutlook = false;
  /** Where a part begins that Outlook leaves out; null outside. */
  block: number | null = null;

  constructor(
    private readonly html: string,
    private readonly address: string | null,
    private readonly open: OpenElements,
    private readonly rules: () => HidingRules,
  ) {
    if (address === null) return;
    for (let at = html.indexOf(address); at !== -1; at = html.indexOf(address, at + 1)) {
      this.#places.push(at);
      if (this.#places.length === MOST_LOOKS) break;
    }
  }

  get isShown(): boolean {
    return this.#isShownToAll || (this.#isShownToOthers && this.#isShownToOutlook);
  }

  /** A link has begun: who sees it is known once it holds something. */
  link(name: string, url: string): void {
    if (this.#isShownToAll || this.address === null || !url.startsWith(this.address)) return;
    this.#within = this.open.depth;
    if (name === 'area') this.#note();
  }

  closed(): void {
    if (this.#within > this.open.depth) this.#within = 0;
  }

  picture(start: number, end: number): void {
    if (this.#within === 0 || this.#isShownToAll) return;
    const { src = '', width = '', height = '' } = attributesOf(this.html, start, end);
    const isDot = [width, height].some((size) => /^[01](?:px)?$/.test(size));
    if (src.trim() !== '' && !isDot) this.#note();
  }

  text(start: number, end: number): void {
    if (this.#isShownToAll || (this.#within === 0 && this.#places.length === 0)) return;
    const isWrittenOut = this.#within === 0 && this.#places.some((at) => at >= start && at < end);
    if (!isWrittenOut && !(this.#within > 0 && INK.test(decoded(this.html.slice(start, end))))) return;
    if (!areLettersHidden(this.open.elements)) this.#note();
  }

  comment(text: string, start: number): void {
    if (CONDITION_END.test(text)) {
      this.block = null;
      return;
    }
    const [whole, condition = ''] = CONDITION.exec(text) ?? [];
    if (whole === undefined) return;
    const rest = text.slice(whole.length);
    if (rest.length <= LONGEST_BARE && BARE.has(rest.replace(/\s/g, ''))) {
      if (condition.includes('!')) this.block ??= start;
    } else if (this.address !== null && !condition.includes('!') && text.includes(this.address))
      this.#isShownToOutlook = true;
  }

  /** What is here shows the address, to whom it is not hidden. */
  #note(): void {
    this.#looks++;
    if (this.#looks > MOST_LOOKS || this.open.hider(this.rules()) !== null) return;
    if (this.block !== null || this.open.elements.some(({ attributes }) => isHiddenInOutlook(attributes)))
      this.#isShownToOthers = true;
    else this.#isShownToAll = true;
  }
}

/** Text with its character references read. */
function decoded(text: string): string {
  if (!text.includes('&')) return text;
  let read = '';
  const parser = new Parser({
    ontext(piece) {
      read += piece;
    },
  });
  parser.write(text);
  parser.end();
  return read;
}
