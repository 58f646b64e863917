import { Parser } from 'htmlparser2';
import type { HtmlElement } from './html-element.ts';
import type { OpenElements } from './open-elements.ts';
import { PARSING, type StepBudget } from './step-budget.ts';
import type { Visibility } from './visibility.ts';

/** All but what shows nothing: white space, and the marks of no width that fill up preview lines. */
const INK = /[^\s\p{Cc}\p{Cf}\p{Mn}\u115f\u1160\u2800\u3164]/u;

/** The places of the address that are looked at: what is shown at none of so many counts as hidden. */
const MOST_LOOKS = 100;

/** The beginning and the end of what Outlook for Windows alone reads, or leaves out. */
const CONDITION = /^\[if\s([^\]]*)\]/i;
const BARE: ReadonlySet<string> = new Set(['', '>', '><!', '><!--']);
const LONGEST_BARE = 40;
const CONDITION_END = /^\s*(?:<!)?\[endif\]/i;

/** A place at which the address is shown to those from whom its element is not hidden. */
interface Look {
  readonly element: HtmlElement | null;
  readonly isText: boolean;
  /** Outlook leaves it out. */
  readonly isForOthers: boolean;
}

/**
 * Watches where an address is shown while html is read: as a link that holds something, or written out. Who
 * sees it is decided at the end, since a style sheet counts for what comes before it too.
 */
export class ExitWatch {
  /** The places of the address in the html that were not reached yet, the first one last. */
  readonly #places: number[] = [];
  /** The link to the address is open, from so many elements on; 0 outside. */
  #within = 0;
  readonly #looks: Look[] = [];
  #isShownToOutlook = false;
  /** The start of a part that Outlook leaves out; null outside. */
  block: number | null = null;

  constructor(
    private readonly html: string,
    private readonly address: string | null,
    private readonly open: OpenElements,
    private readonly budget: StepBudget,
  ) {
    if (address === null) return;
    for (let at = html.indexOf(address); at !== -1; at = html.indexOf(address, at + 1)) {
      this.#places.push(at);
      if (this.#places.length === MOST_LOOKS) break;
    }
    this.#places.reverse();
  }

  /** True when every reader can see the address. */
  isShown(visibility: Visibility): boolean {
    let isShownToOthers = false;
    for (const { element, isText, isForOthers } of this.#looks) {
      if (!visibility.isShown(element, isText)) continue;
      if (!isForOthers && !visibility.isHiddenInOutlook(element)) return true;
      isShownToOthers = true;
    }
    return isShownToOthers && this.#isShownToOutlook;
  }

  /** A link has begun: who sees it is known once it holds something. */
  link(element: HtmlElement, url: string): void {
    if (this.address === null || !url.startsWith(this.address)) return;
    this.#within = this.open.depth;
    if (element.name === 'area') this.#note(element, false);
  }

  closed(): void {
    if (this.#within > this.open.depth) this.#within = 0;
  }

  picture(element: HtmlElement): void {
    if (this.#within === 0 || this.#isOver || !this.budget.take(PARSING)) return;
    const { src = '', width = '', height = '' } = element.attributes;
    const isDot = [width, height].some((size) => /^\s*0*[01](?:px|%)?\s*$/.test(size.slice(0, 20)));
    if (src.trim() !== '' && !isDot && !element.hasNoSize) this.#note(element, false);
  }

  text(start: number, end: number): void {
    let isWrittenOut = false;
    for (let at = this.#places.at(-1); at !== undefined && at < end; at = this.#places.at(-1)) {
      this.#places.pop();
      isWrittenOut ||= at >= start;
    }
    if (this.#isOver || (this.#within === 0 && !isWrittenOut)) return;
    if (this.#within === 0 || INK.test(this.#decoded(start, end))) this.#note(this.open.innermost, true);
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

  /** The limit of checked places is reached: no further one counts. */
  get #isOver(): boolean {
    return this.#looks.length >= MOST_LOOKS;
  }

  #note(element: HtmlElement | null, isText: boolean): void {
    if (!this.#isOver) this.#looks.push({ element, isText, isForOthers: this.block !== null });
  }

  /** Text with its character references read; nothing once the steps are used up. */
  #decoded(start: number, end: number): string {
    const text = this.html.slice(start, end);
    if (!text.includes('&')) return text;
    return this.budget.take(PARSING) ? decoded(text) : '';
  }
}

/** Text with its character references read. */
function decoded(text: string): string {
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
