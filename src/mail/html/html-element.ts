import type { Declarations } from './css.ts';
import { type Attributes, isHidden, isPictureTiny, maySay, NOTHING, styleOf, UNREAD } from './hidden.ts';
import type { SelectorElement } from './selector.ts';
import { attributesOf, isReadable } from './tag.ts';

const NO_ATTRIBUTES: Attributes = {};

/**
 * An element of html. Its attributes are read once, where they are asked for: those of most elements are not.
 */
export class HtmlElement implements SelectorElement {
  #attributes: Attributes | undefined;
  #classes: ReadonlySet<string> | undefined;
  #style: Declarations | undefined;

  constructor(
    private readonly html: string,
    readonly name: string,
    /** Positions of the tag in the html. */
    readonly start: number,
    private readonly end: number,
    readonly parent: HtmlElement | null,
  ) {}

  /** True where the tag is more than its name. */
  get hasAttributes(): boolean {
    return this.end - this.start > this.name.length + 2;
  }

  get attributes(): Attributes {
    this.#attributes ??= this.hasAttributes ? attributesOf(this.html, this.start, this.end) : NO_ATTRIBUTES;
    return this.#attributes;
  }

  get classes(): ReadonlySet<string> {
    this.#classes ??= new Set((this.attributes.class ?? '').toLowerCase().split(/\s+/));
    return this.#classes;
  }

  get id(): string {
    return (this.attributes.id ?? '').trim().toLowerCase();
  }

  get style(): Declarations {
    this.#style ??= styleOf(this.attributes);
    return this.#style;
  }

  /** The same, as far as it says something by itself: most say nothing, and are not read for it. */
  get telling(): Declarations {
    const { style } = this.attributes;
    return style !== undefined && maySay(style) ? this.style : NOTHING;
  }

  attribute(name: string): string | undefined {
    return this.attributes[name];
  }

  /** True when its style leaves a picture no place, as one pixel is none. */
  get hasNoSize(): boolean {
    return isPictureTiny(this.style);
  }

  /** True when the element hides what is in it by itself, or has a tag that is too long to say. */
  get hidesItself(): boolean {
    return (
      UNREAD.has(this.name) ||
      (this.name === 'details' && this.attributes.open === undefined) ||
      isHidden(this.attributes) ||
      !isReadable(this.start, this.end)
    );
  }
}
