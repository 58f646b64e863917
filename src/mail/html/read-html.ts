import { Parser } from 'htmlparser2';
import { type Attributes, areLettersHidden, isHidden, isHiddenInOutlook, type OpenElement, UNREAD } from './hidden.ts';
import { hidingRulesOf, isHiddenByRules } from './style-sheet.ts';

/** Elements within elements that are read. htmlparser2 takes time with the square of the depth; emails nest their tables thirty deep. */
export const DEEPEST_HTML = 1_000;

/** A link, and the position of its address in the html, quotes included. */
export interface HtmlLink {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/** What is known of an html part, as mail programs read it. */
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
/** An end tag does not reach beyond these (HTML, 13.2.4.2); the parser here lets it. */
const SCOPES: ReadonlySet<string> = new Set('table td th caption object template marquee applet'.split(' '));
/** Those that go on in the next block where their end tag is missing (HTML, 13.2.4.3). */
const FORMATTING: ReadonlySet<string> = new Set(
  'a b big code em font i nobr s small strike strong tt u'.split(' '),
);

/** All but what shows nothing: white space, and the marks of no width that fill up preview lines. */
const INK = /[^\s\p{Cc}\p{Cf}\u034f\u115f\u1160\u2800\u3164\ufe0f]/u;

/** The beginning and the end of what Outlook for Windows alone reads, or leaves out. */
const CONDITION = /^\[if\s([^\]]*)\]/i;
const IS_BARE = /^(?:>\s*(?:<!)?\s*)?$/;
const CONDITION_END = /^\s*(?:<!)?\[endif\]/i;

/** Reads html once, from its beginning, as a browser does (WHATWG HTML), and Outlook with its conditional comments. */
class HtmlReader {
  readonly #links: HtmlLink[] = [];
  readonly #open: OpenElement[] = [];
  readonly #parser: Parser;
  /** The end of the last token, and of the last one that is part of the body. */
  #done = 0;
  #content = 0;
  #begin: number | null = null;
  #end: number | null = null;
  /** What may be open still in other programs, though it is closed here; what follows it may be hidden. */
  #doubt = Number.POSITIVE_INFINITY;
  /** Elements that the end tag at that position has closed besides its own. */
  #closed: OpenElement[] = [];
  #closedAt = -1;
  #href: HtmlLink | null = null;
  #sheet = '';
  #script = '';
  /** Where a part begins that Outlook leaves out; null outside. */
  #block: number | null = null;
  /** The body began within such a part, and nothing of it has come yet. */
  #awaitsBlockEnd = false;
  /** The link to the address is open, from so many elements on; 0 outside. */
  #within = 0;
  #isShown = false;
  #isShownToOthers = false;
  #isShownToOutlook = false;

  constructor(
    private readonly html: string,
    /** The address that is looked for. */
    private readonly address: string | null,
    private readonly stopsAtBody: boolean,
  ) {
    this.#parser = new Parser({
      onopentagname: () => {
        this.#href = null;
      },
      onattribute: (name, value) => this.#attribute(name, value),
      onopentag: (name, attributes) => this.#opened(name, attributes),
      onclosetag: (name, isImplied) => this.#closedTag(name, isImplied),
      ontext: (text) => this.#text(text),
      oncomment: (text) => this.#comment(text),
      onprocessinginstruction: () => {
        this.#done = this.#parser.endIndex + 1;
      },
    });
  }

  read(): HtmlReading {
    // `end` is not called: it would report an unfinished comment, behind whose beginning nothing is shown.
    this.#parser.write(this.html);
    // What begins like a character reference is text only once something follows it.
    this.#parser.write('\n');
    this.#done = Math.min(this.#done, this.html.length);
    this.#content = Math.min(this.#content, this.html.length);
    const isWhole = this.#open.length <= DEEPEST_HTML;
    const begin = this.#begin ?? this.#limited(this.#content === 0 ? this.#done : this.#content, this.#open);
    const last = this.#end ?? this.#limited(this.#content, this.#open);
    return {
      links: this.#links,
      begin,
      end: isWhole ? Math.max(begin, Math.min(last, this.#doubt)) : begin,
      shows: this.#isShown || (this.#isShownToOthers && this.#isShownToOutlook),
    };
  }

  #attribute(name: string, value: string): void {
    if (name !== 'href' || this.#href) return;
    const { startIndex, endIndex } = this.#parser;
    let start = this.html.indexOf('=', startIndex) + 1;
    const hasValue = start > 0 && start < endIndex;
    while (hasValue && /\s/.test(this.html[start] ?? '')) start++;
    // The first one counts, also where it has no value.
    this.#href = { start, end: endIndex, url: hasValue ? value.trim() : '' };
  }

  #opened(name: string, attributes: Attributes): void {
    const start = this.#done;
    this.#done = this.#parser.endIndex + 1;
    this.#begins(name, start);
    this.#open.push({ name, attributes, start });
    if (this.#open.length > DEEPEST_HTML) return this.#parser.pause();
    if (this.stopsAtBody && this.#begin !== null && !this.#awaitsBlockEnd) return this.#parser.pause();
    const href = this.#href;
    if (this.#begin === null || name === 'body' || name === 'html') return;
    this.#content = this.#done;
    if ((name === 'a' || name === 'area') && href && href.url !== '') {
      this.#links.push(href);
      if (this.address !== null && href.url.startsWith(this.address)) this.#foundLink(name);
    } else if (name === 'img' && this.#within > 0 && isPicture(attributes)) this.#note();
  }

  /** Notes where the body begins. */
  #begins(name: string, start: number): void {
    this.#awaitsBlockEnd = false;
    if (this.#begin !== null || this.#isInTemplate()) return;
    if (name === 'body') {
      this.#setBegin(this.#done);
      this.#awaitsBlockEnd = this.#block !== null;
    } else if (!BEFORE_BODY.has(name)) this.#setBegin(this.#outermostUnread() ?? start);
  }

  #setBegin(at: number): void {
    this.#begin = at;
    this.#content = Math.max(this.#content, at);
    if (this.stopsAtBody && this.#block === null) this.#parser.pause();
  }

  #isInTemplate = (): boolean => this.#open.some(({ name }) => name === 'template');
  #outermostUnread = (): number | null => this.#open.find(({ name }) => UNREAD.has(name))?.start ?? null;

  #closedTag(name: string, isImplied: boolean): void {
    const { endIndex } = this.#parser;
    const element = this.#open.pop();
    if (!element) return;
    if (this.#within > this.#open.length) this.#within = 0;
    // The element has no end: the parser reports one at once.
    if (isImplied && this.#done === endIndex + 1) return;
    if (this.#closedAt !== endIndex) this.#closed = [];
    this.#closedAt = endIndex;
    if (isImplied) {
      if (FORMATTING.has(name) && isHidden(element.attributes)) this.#mayBeOpen(element);
      this.#closed.push(element);
      return;
    }
    if (name === 'script') this.#closedScript(element);
    const crossed = this.#closed.some((inner) => SCOPES.has(inner.name));
    if (crossed && !SCOPES.has(name) && isHidden(element.attributes)) this.#mayBeOpen(element);
    if (name === 'body') this.#end = this.#limited(this.#content, [...this.#open, ...this.#closed.toReversed()]);
    const bracket = this.html.indexOf('>', endIndex);
    this.#done = bracket === -1 ? this.html.length : bracket + 1;
    const isContent = this.#begin !== null && name !== 'body' && name !== 'html' && bracket !== -1;
    if (isContent) this.#content = this.#done;
  }

  /** A script within a comment within a script has an end tag that does not count (HTML, 13.2.5.29). */
  #closedScript(element: OpenElement): void {
    if (/<!--[\s\S]*<script/i.test(this.#script)) this.#mayBeOpen(element);
    this.#script = '';
  }

  #mayBeOpen({ start }: OpenElement): void {
    this.#doubt = Math.min(this.#doubt, start);
  }

  /** The position, or the beginning of the outermost thing that hides what is there. */
  #limited(at: number, open: readonly OpenElement[]): number {
    const hider = this.#hiderOf(open);
    const limit = hider === null ? at : Math.min(at, open[hider]?.start ?? at);
    return this.#block !== null && this.#begin !== null && this.#block >= this.#begin
      ? Math.min(limit, this.#block)
      : limit;
  }

  /** The place of the first open element that hides what is in it; null where none does. */
  #hiderOf(open: readonly OpenElement[]): number | null {
    const rules = hidingRulesOf(this.#sheet);
    const at = open.findIndex(
      ({ name, attributes }, index) =>
        name !== 'body' &&
        name !== 'html' &&
        (UNREAD.has(name) ||
          (name === 'details' && attributes.open === undefined) ||
          isHidden(attributes) ||
          isHiddenByRules(rules, open, index)),
    );
    return at === -1 ? null : at;
  }

  #text(text: string): void {
    const start = this.#done;
    this.#done = this.#parser.endIndex + 1;
    const last = this.#open.at(-1)?.name;
    if (last === 'style') this.#sheet += text;
    else if (last === 'script') this.#script += text;
    const isBlank = /^[\t\n\f\r ]*$/.test(text);
    if (isBlank) return;
    this.#awaitsBlockEnd = false;
    if (this.#begin === null) {
      if (last !== undefined && UNREAD.has(last) && last !== 'noscript') return;
      if (this.#isInTemplate()) return;
      this.#setBegin(this.#outermostUnread() ?? start);
    }
    this.#content = this.#done;
    if (this.#isShown || this.address === null) return;
    const isWrittenOut = this.#within === 0 && text.includes(this.address);
    if ((isWrittenOut || (this.#within > 0 && INK.test(text))) && !areLettersHidden(this.#open)) this.#note();
  }

  #comment(text: string): void {
    const start = this.#done;
    this.#done = this.#parser.endIndex + 1;
    if (CONDITION_END.test(text)) {
      this.#block = null;
      if (this.#awaitsBlockEnd) this.#setBegin(this.#done);
      this.#awaitsBlockEnd = false;
      return;
    }
    const [whole, condition = ''] = CONDITION.exec(text) ?? [];
    if (whole === undefined) return;
    if (IS_BARE.test(text.slice(whole.length))) {
      if (condition.includes('!')) this.#block ??= start;
    } else if (this.address !== null && !condition.includes('!') && text.includes(this.address))
      this.#isShownToOutlook = true;
  }

  /** A link to the address: who sees it is known once it holds something. */
  #foundLink(name: string): void {
    if (this.#isShown) return;
    this.#within = this.#open.length;
    if (name === 'area') this.#note();
  }

  /** What is here shows the address, to whom it is not hidden. */
  #note(): void {
    if (this.#hiderOf(this.#open) !== null) return;
    if (this.#block !== null || this.#open.some(({ attributes }) => isHiddenInOutlook(attributes)))
      this.#isShownToOthers = true;
    else this.#isShown = true;
  }
}

/** A picture that is larger than a dot. */
const isPicture = ({ src, width, height }: Attributes): boolean =>
  src !== undefined && src.trim() !== '' && !/^[01](?:px)?$/.test(width ?? '') && !/^[01](?:px)?$/.test(height ?? '');

/** Reads an html part; `address` is looked for in it. */
export const readHtml = (html: string, address: string | null = null): HtmlReading =>
  new HtmlReader(html, address, false).read();

/** Where the body of an html part begins. No more of it is read. */
export const beginOfBody = (html: string): number => new HtmlReader(html, null, true).read().begin;
