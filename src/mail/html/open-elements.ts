import { type Attributes, isHidden, UNREAD } from './hidden.ts';
import { type HidingRules, isHiddenByRules } from './style-sheet.ts';
import { attributesOf } from './tag.ts';

/** Elements within elements that are read: emails nest their tables thirty deep. */
export const DEEPEST_HTML = 1_000;

const named = (names: string): ReadonlySet<string> => new Set(names.split(' '));

const VOID = named(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);
/** The document's own elements, which no tag ends before the document does. */
const ROOTS = named('html head body');
/** An end tag does not reach beyond these (HTML, 13.2.4.2). */
const SCOPES = named('table td th caption object template marquee applet');
const TABLE_PARTS = named('table thead tbody tfoot tr td th caption template object marquee applet');
/** Those that go on in the next block where their end tag is missing (HTML, 13.2.4.3). */
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

/** An open element. Its attributes are read where somebody asks for them: of most elements nobody does. */
class OpenElement {
  #attributes: Attributes | undefined;

  constructor(
    private readonly html: string,
    readonly name: string,
    /** Positions of the tag in the html. */
    readonly start: number,
    private readonly end: number,
  ) {}

  get attributes(): Attributes {
    this.#attributes ??= attributesOf(this.html, this.start, this.end);
    return this.#attributes;
  }
}

/** The elements that are open at a place of html, as a browser has them. */
export class OpenElements {
  readonly #open: OpenElement[] = [];
  #foreign = 0;
  /** Where a hidden element begins that goes on in other programs, though a block has ended it. */
  doubt = Number.POSITIVE_INFINITY;

  constructor(private readonly html: string) {}

  get depth(): number {
    return this.#open.length;
  }

  get innermost(): string {
    return this.#open.at(-1)?.name ?? '';
  }

  /** True within a drawing or formula, where elements follow other rules. */
  get isForeign(): boolean {
    return this.#foreign > 0 && !INTEGRATION.has(this.innermost);
  }

  open(name: string, start: number, end: number, endsItself: boolean): void {
    if (ROOTS.has(name) || (VOID.has(name) && !this.isForeign)) return;
    const ended = ENDED_BY.get(name);
    if (ended && !this.isForeign) while (ended.has(this.innermost)) this.#pop(true);
    if (endsItself && (this.isForeign || FOREIGN.has(name))) return;
    if (FOREIGN.has(name)) this.#foreign++;
    this.#open.push(new OpenElement(this.html, name, start, end));
  }

  close(name: string): void {
    const parts = TABLE_PARTS.has(name);
    for (let at = this.#open.length - 1; at >= 0; at--) {
      const open = this.#open[at]?.name ?? '';
      if (open === name) {
        while (this.#open.length > at + 1) this.#pop(true);
        this.#pop(false);
        return;
      }
      if (!parts && SCOPES.has(open)) return;
    }
  }

  /** Where the outermost element begins whose content nobody reads; null where there is none. */
  unread(): number | null {
    return this.#open.find(({ name }) => UNREAD.has(name))?.start ?? null;
  }

  has(name: string): boolean {
    return this.#open.some((open) => open.name === name);
  }

  /** Where the outermost element begins that hides what is in it; null where none does. */
  hider(rules: HidingRules): number | null {
    const found = this.#open.find(
      ({ name, attributes }, index) =>
        UNREAD.has(name) ||
        (name === 'details' && attributes.open === undefined) ||
        isHidden(attributes) ||
        isHiddenByRules(rules, this.#open, index),
    );
    return found?.start ?? null;
  }

  get elements(): readonly { readonly attributes: Attributes }[] {
    return this.#open;
  }

  #pop(isImplied: boolean): void {
    const tag = this.#open.pop();
    if (!tag) return;
    if (FOREIGN.has(tag.name)) this.#foreign--;
    if (isImplied && FORMATTING.has(tag.name) && isHidden(tag.attributes))
      this.doubt = Math.min(this.doubt, tag.start);
  }
}
