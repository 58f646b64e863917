import { UNREAD } from './hidden.ts';
import { HtmlElement } from './html-element.ts';

/** Elements within elements that are read: emails nest their tables thirty deep. */
export const DEEPEST_HTML = 1_000;

const named = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Elements without content and end (HTML, 13.1.2), and those that once were. */
export const VOID = named(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);
/** The most of them whose attributes count: a browser adds those of later tags to the first. */
const MOST_ROOTS = 8;
/** The document's own elements, which no tag ends before the document does. */
const ROOTS = named('html head body');
/** An end tag does not reach beyond these (HTML, 13.2.4.2). */
const SCOPES = named('table td th caption object template marquee applet');
const TABLE_PARTS = named('table thead tbody tfoot tr td th caption template object marquee applet');
/** Elements that continue in the next block where their end tag is missing (HTML, 13.2.4.3). */
const FORMATTING = named('a b big code em font i nobr s small strike strong tt u');
const BLOCKS =
  'address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol p pre section table ul dd dt';

/** The elements whose end tag may be left out, by the tags that end them. */
const ENDED_BY: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...BLOCKS.split(' ').map((name) => [name, named('p')] as const),
  ['li', named('li p')],
  ['dd', named('dd dt p')],
  ['dt', named('dd dt p')],
  ['td', named('td th')],
  ['th', named('td th')],
  ['tr', named('tr td th')],
  ['tbody', named('thead tbody tfoot tr td th')],
  ['tfoot', named('thead tbody tfoot tr td th')],
  ['option', named('option')],
  ['optgroup', named('option optgroup')],
  ['a', named('a')],
]);

const FOREIGN = named('svg math');
/** Elements of drawings and formulas that hold html again. */
const INTEGRATION = named('foreignobject desc title mi mo mn ms mtext annotation-xml');

/**
 * The elements that are open at a place of html, as a browser has them. Each step takes the same time,
 * however deep they are.
 */
export class OpenElements {
  readonly #open: HtmlElement[] = [];
  /**
   * The depths of the open elements of each name, and of those that end tags do not reach beyond and that are
   * not read.
   */
  readonly #depths = new Map<string, number[]>();
  readonly #scopes: number[] = [];
  readonly #unread: number[] = [];
  readonly #roots: HtmlElement[] = [];
  readonly #ended: HtmlElement[] = [];
  #foreign = 0;

  constructor(private readonly html: string) {}

  get depth(): number {
    return this.#open.length;
  }

  get innermost(): HtmlElement | null {
    return this.#open.at(-1) ?? null;
  }

  /** The elements of the document and its body, around all others: also where their tags are left out. */
  get roots(): readonly HtmlElement[] {
    return ['html', 'body'].flatMap((name) => {
      const written = this.#roots.filter((root) => root.name === name);
      return written.length > 0 ? written : [new HtmlElement('', name, 0, 0, null)];
    });
  }

  /** Formatting elements that continue in the next block, although their parent has ended. */
  get ended(): readonly HtmlElement[] {
    return this.#ended;
  }

  /** True within a drawing or formula, where elements follow other rules. */
  get isForeign(): boolean {
    return this.#foreign > 0 && !INTEGRATION.has(this.#name);
  }

  get #name(): string {
    return this.innermost?.name ?? '';
  }

  /** Opens an element, and makes one of a tag that has no content as well. */
  open(name: string, start: number, end: number, endsItself: boolean): HtmlElement {
    const isRoot = ROOTS.has(name);
    const isEmpty = isRoot || (VOID.has(name) && !this.isForeign);
    const ended = isEmpty || this.isForeign ? undefined : ENDED_BY.get(name);
    while (ended?.has(this.#name)) this.#pop(true);
    const element = new HtmlElement(this.html, name, start, end, this.innermost);
    if (isRoot && name !== 'head' && this.#roots.length < MOST_ROOTS) this.#roots.push(element);
    const isEnded = isEmpty || (endsItself && (this.isForeign || FOREIGN.has(name)));
    if (!isEnded) this.#push(element);
    return element;
  }

  close(name: string): void {
    if (this.#name === name) return this.#pop(false);
    const depth = this.#depths.get(name)?.at(-1);
    if (depth === undefined || (!TABLE_PARTS.has(name) && depth < (this.#scopes.at(-1) ?? 0))) return;
    while (this.#open.length > depth) this.#pop(true);
    this.#pop(false);
  }

  /** The start of the outermost element whose content is not shown; null where there is none. */
  unread(): number | null {
    const [depth] = this.#unread;
    return depth === undefined ? null : (this.#open[depth - 1]?.start ?? null);
  }

  has(name: string): boolean {
    return (this.#depths.get(name)?.length ?? 0) > 0;
  }

  #push(element: HtmlElement): void {
    const { name } = element;
    this.#open.push(element);
    const depths = this.#depths.get(name);
    if (depths) depths.push(this.depth);
    else this.#depths.set(name, [this.depth]);
    if (SCOPES.has(name)) this.#scopes.push(this.depth);
    if (UNREAD.has(name)) this.#unread.push(this.depth);
    if (FOREIGN.has(name)) this.#foreign++;
  }

  #pop(isImplied: boolean): void {
    const { depth } = this;
    const element = this.#open.pop();
    if (!element) return;
    const { name } = element;
    this.#depths.get(name)?.pop();
    if (this.#scopes.at(-1) === depth) this.#scopes.pop();
    if (this.#unread.at(-1) === depth) this.#unread.pop();
    if (this.#foreign > 0 && FOREIGN.has(name)) this.#foreign--;
    if (isImplied && FORMATTING.has(name)) this.#ended.push(element);
  }
}
