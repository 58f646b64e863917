import { Tokenizer } from 'htmlparser2';
import { ExitWatch } from './exit-watch.ts';
import type { HtmlElement } from './html-element.ts';
import { DEEPEST_HTML, OpenElements } from './open-elements.ts';
import { PARSING, StepBudget } from './step-budget.ts';
import { Visibility } from './visibility.ts';

/** A link, and the position of its address in the html, quotes included. */
interface HtmlLink {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/** The properties of an html part, as mail programs read it. */
export interface HtmlReading {
  /** The links that lead somewhere, in their order. */
  readonly links: readonly HtmlLink[];
  /** Before everything that is shown. */
  readonly begin: number;
  /** The last place at which something that is added is shown: within the body, in nothing that hides it. */
  readonly end: number;
  /** True when every reader can see the address that was looked for, as a link or written out. */
  readonly shows: boolean;
}

/** Elements that may come before the body begins (HTML, 13.2.6.4.3 to 13.2.6.4.6). */
const BEFORE_BODY: ReadonlySet<string> = new Set(
  'html head base basefont bgsound link meta title noscript noframes style script template'.split(' '),
);

/** A place at which something may be added, and what is around it. */
interface Place {
  readonly at: number;
  readonly element: HtmlElement | null;
  /** The beginning of the part that Outlook leaves out here; null for none. */
  readonly block: number | null;
}

const NOTHING = (): void => {};
const IS_SPACE = /\s/;
const OTHER_REFERENCE = /&(?!amp;)/;

/**
 * Reads html once, as a browser does (WHATWG HTML), and Outlook with its conditional comments. It works on
 * the tokens of htmlparser2: its parser makes objects of all that it finds, and took six times as long.
 */
class HtmlReader {
  readonly #links: HtmlLink[] = [];
  readonly #open: OpenElements;
  readonly #watch: ExitWatch;
  readonly #tokenizer: Tokenizer;
  /** The end of the last token, and of the last one that is part of the body. */
  #done = 0;
  #content = 0;
  #begin: number | null = null;
  /** The place at the last end of the body. */
  #end: Place | null = null;
  /** The tag that is being read: where it begins, its name, and its address with quotes. */
  #start = 0;
  #name = '';
  #attributeStart = 0;
  #isAddress = false;
  #address: { readonly start: number; readonly end: number } | null = null;
  readonly #sheets: { css: string; media: string }[] = [];
  #script = '';
  /** The start of a script that continues in browsers after its end tag. */
  #doubt = Number.POSITIVE_INFINITY;
  /** The body began within a part that Outlook leaves out, and nothing of it has come yet. */
  #awaitsBlockEnd = false;
  #isTooDeep = false;

  constructor(
    private readonly html: string,
    address: string | null,
    private readonly stopsAtBody: boolean,
    private readonly budget: StepBudget,
  ) {
    this.#open = new OpenElements(html);
    this.#watch = new ExitWatch(html, address, this.#open, budget);
    this.#tokenizer = new Tokenizer(
      { decodeEntities: false },
      {
        onopentagname: (start, end) => this.#begunTag(start, end),
        onattribname: (start, end) => this.#attributeName(start, end),
        onattribend: (_quote, end) => this.#attributeEnd(end),
        onopentagend: (end) => this.#opened(end + 1, false),
        onselfclosingtag: (end) => this.#opened(end + 1, true),
        onclosetag: (start, end) => this.#closed(start, end),
        ontext: (start, end) => this.#text(start, end),
        oncomment: (start, end, offset) => this.#comment(start, end, offset),
        oncdata: (_start, end) => this.#passed(end + 1),
        ondeclaration: (_start, end) => this.#passed(end + 1),
        isInForeignContext: () => this.#open.isForeign,
        onattribdata: NOTHING,
        onattribentity: NOTHING,
        onend: NOTHING,
        onprocessinginstruction: NOTHING,
        ontextentity: NOTHING,
      },
    );
  }

  read(): HtmlReading {
    // It is never ended: it would report an unfinished comment, behind whose beginning nothing is shown.
    this.#tokenizer.write(this.html);
    const visibility = new Visibility(this.#sheets, this.#open.roots, this.budget);
    const begin =
      this.#begin ?? this.#limited(this.#place(this.#content === 0 ? this.#done : this.#content), visibility);
    if (this.stopsAtBody) return { links: this.#links, begin, end: begin, shows: false };
    const last = this.#limited(this.#end ?? this.#place(this.#content), visibility);
    const end = Math.max(begin, Math.min(last, this.#doubtful(last, visibility)));
    const shows = this.#watch.isShown(visibility);
    // Of what was not read to its end nothing is said: all that is added comes first, where it is seen.
    const isRead = !this.#isTooDeep && !this.budget.isSpent;
    return { links: this.#links, begin, end: isRead ? end : begin, shows: isRead && shows };
  }

  #begunTag(start: number, end: number): void {
    this.#start = start - 1;
    this.#name = this.html.slice(start, end).toLowerCase();
    this.#address = null;
  }

  #attributeName(start: number, end: number): void {
    this.#attributeStart = end;
    this.#isAddress =
      end - start === 4 &&
      (this.#name === 'a' || this.#name === 'area') &&
      this.html.slice(start, end).toLowerCase() === 'href';
  }

  #attributeEnd(end: number): void {
    // The first one counts, also where it has no value.
    if (!this.#isAddress || this.#address) return;
    let start = this.#attributeStart;
    while (start < end && IS_SPACE.test(this.html[start] ?? '')) start++;
    if (this.html[start] === '=') start++;
    while (start < end && IS_SPACE.test(this.html[start] ?? '')) start++;
    this.#address = { start, end: Math.max(start, end) };
  }

  #opened(end: number, endsItself: boolean): void {
    const name = this.#name;
    const [start, before] = [this.#start, this.#done];
    this.#done = end;
    this.#awaitsBlockEnd = false;
    if (this.#begin === null) this.#begins(name, before);
    else if (this.stopsAtBody) return this.#tokenizer.pause();
    const element = this.#open.open(name, start, end, endsItself);
    if (name === 'style') this.#sheets.push({ css: '', media: this.#mediumOf(element) });
    if (this.#open.depth > DEEPEST_HTML) this.#isTooDeep = true;
    if (this.#isTooDeep || this.budget.isSpent) return this.#tokenizer.pause();
    if (this.#begin === null || name === 'body' || name === 'html') return;
    this.#content = end;
    if (this.#address) this.#link(element, this.#address);
    else if (name === 'img' || name === 'image') this.#watch.picture(element);
  }

  #mediumOf(element: HtmlElement): string {
    return element.hasAttributes && this.budget.take(PARSING) ? (element.attributes.media ?? '') : '';
  }

  #link(element: HtmlElement, { start, end }: { readonly start: number; readonly end: number }): void {
    const written = this.html.slice(start, end);
    const raw = /^["']/.test(written) ? written.slice(1, -1) : written;
    // Nearly all addresses with references have this one alone; a parser takes 5 µs for each tag.
    const isEasy = !OTHER_REFERENCE.test(raw);
    if (!isEasy && !this.budget.take(PARSING)) return;
    const url = (isEasy ? raw.replaceAll('&amp;', '&') : (element.attributes.href ?? '')).trim();
    if (url === '') return;
    this.#links.push({ start, end, url });
    this.#watch.link(element, url);
  }

  /** Notes where the body begins: before whatever may not come earlier. */
  #begins(name: string, before: number): void {
    if (this.#open.has('template')) return;
    if (name === 'body') {
      this.#setBegin(this.#done);
      this.#awaitsBlockEnd = this.#watch.block !== null;
    } else if (!BEFORE_BODY.has(name)) this.#setBegin(this.#open.unread() ?? before);
  }

  #setBegin(at: number): void {
    this.#begin = at;
    this.#content = Math.max(this.#content, at);
    if (this.stopsAtBody && this.#watch.block === null) this.#tokenizer.pause();
  }

  #closed(start: number, end: number): void {
    const name = this.html.slice(start, end).toLowerCase();
    const bracket = this.html.indexOf('>', end);
    this.#done = bracket === -1 ? this.html.length : bracket + 1;
    if (name === 'script') this.#closedScript();
    if (name === 'body' || name === 'html') {
      if (name === 'body' && this.#begin !== null) this.#end = this.#place(this.#content);
      return;
    }
    const depth = this.#open.depth;
    this.#open.close(name);
    this.#watch.closed();
    // A browser ignores an end tag that closes nothing.
    if (this.#begin !== null && bracket !== -1 && this.#open.depth < depth) this.#content = this.#done;
  }

  /** A script within a comment within a script has an end tag that does not count (HTML, 13.2.5.29). */
  #closedScript(): void {
    const comment = this.#script.indexOf('<!--');
    if (comment !== -1 && /<script/i.test(this.#script.slice(comment)))
      this.#doubt = Math.min(this.#doubt, this.#open.unread() ?? this.#done);
    this.#script = '';
  }

  #place(at: number): Place {
    const { block } = this.#watch;
    const isWithinBody = block !== null && this.#begin !== null && block >= this.#begin;
    return { at, element: this.#open.innermost, block: isWithinBody ? block : null };
  }

  /** The position of a place, or the beginning of the outermost thing that hides what is there. */
  #limited({ at, element, block }: Place, visibility: Visibility): number {
    return Math.min(at, visibility.hiderAt(element) ?? at, block ?? at);
  }

  /** The start of the first hiding element that continues in other programs after its end. */
  #doubtful(before: number, visibility: Visibility): number {
    let doubt = Math.min(before, this.#doubt);
    for (const element of this.#open.ended)
      if (element.start < doubt && !this.budget.isSpent && visibility.hides(element)) doubt = element.start;
    return doubt;
  }

  #text(start: number, end: number): void {
    const before = this.#done;
    this.#done = end;
    const last = this.#open.innermost?.name ?? '';
    const sheet = this.#sheets.at(-1);
    if (last === 'style' && sheet) sheet.css += this.html.slice(start, end);
    else if (last === 'script') this.#script += this.html.slice(start, end);
    if (isBlank(this.html, start, end)) return;
    this.#awaitsBlockEnd = false;
    if (this.#begin === null) {
      if (last !== 'noscript' && this.#open.unread() !== null) return;
      this.#setBegin(this.#open.unread() ?? before);
    }
    this.#content = end;
    this.#watch.text(start, end);
  }

  #comment(start: number, end: number, offset: number): void {
    this.#done = end + 1;
    const { block } = this.#watch;
    this.#watch.comment(this.html.slice(start, end - offset), this.html.lastIndexOf('<', start - 1));
    if (block === null || this.#watch.block !== null) return;
    // The part that Outlook leaves out is over; what follows it is for all again.
    if (this.#content > block) this.#content = this.#done;
    if (this.#awaitsBlockEnd) this.#setBegin(this.#done);
    this.#awaitsBlockEnd = false;
  }

  #passed(end: number): void {
    this.#done = end;
  }
}

/** True where html has nothing but white space of HTML. */
function isBlank(html: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = html.charCodeAt(at);
    if (code !== 32 && (code < 9 || code > 13 || code === 11)) return false;
  }
  return true;
}

/** Reads an html part; `address` is looked for in it. */
export const readHtml = (
  html: string,
  address: string | null = null,
  budget: StepBudget = new StepBudget(),
): HtmlReading => new HtmlReader(html, address, false, budget).read();

/** The start of the body of an html part. No more of it is read. */
export const beginOfBody = (html: string): number =>
  new HtmlReader(html, null, true, new StepBudget()).read().begin;
