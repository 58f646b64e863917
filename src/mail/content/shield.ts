import { MarkdownProblem } from './markdown-values.ts';

/** The tags of common template languages, opening and closing; emailmd knows the same four. */
const CLOSING: Readonly<Record<string, string>> = { '{{': '}}', '{%': '%}', '${': '}', '%%': '%%' };
const OPENING = /\{\{|\{%|\$\{|%%/g;

/**
 * The most openings without an end. emailmd searches from each one to the end of the document, by a regular
 * expression that nothing stops: 130,000 of them took it a minute. It looks for these, too.
 */
const MOST_UNCLOSED = 200;
const ALSO = { opening: '<%', closing: '%>' } as const;

/**
 * The most characters that restored tags may add. A reference can repeat one tag on every third character.
 */
const MOST_RESTORED = 1_048_576;

/**
 * Takes template tags (`{{ name }}`) out of a markdown and puts them back into the result. emailmd does so
 * too, but with placeholders that a document can forge: a few hundred kilobytes of them become gigabytes.
 * These hold a nonce.
 */
export class Shield {
  readonly #tags: string[] = [];
  /** The offsets of each tag and of its word, of the text that was hidden last. */
  #places: { readonly at: number; readonly wordAt: number }[] = [];
  readonly #nonce: string;
  #restored = 0;

  /** `nonce`: letters and digits that the author of the markdown cannot know. */
  constructor(nonce: string) {
    this.#nonce = nonce;
  }

  /**
   * The markdown with a word in the place of every tag. @throws MarkdownProblem where too many have no end
   */
  hide(markdown: string): string {
    const unclosed = new Set<string>();
    const places: { readonly at: number; readonly wordAt: number }[] = [];
    let length = 0;
    let open = markdown.slice(markdown.lastIndexOf(ALSO.closing) + 1).split(ALSO.opening).length - 1;
    const parts: string[] = [];
    let from = 0;
    for (const { 0: opening, index } of markdown.matchAll(OPENING)) {
      const closing = CLOSING[opening] ?? '';
      if (index < from) continue;
      const end = unclosed.has(opening) ? -1 : markdown.indexOf(closing, index + opening.length);
      // An opening without an end is remembered: ten thousand of them would each search to the end of the
      // document.
      if (end === -1) {
        unclosed.add(opening);
        open++;
      } else {
        const word = this.#word(this.#tags.length);
        parts.push(markdown.slice(from, index), word);
        places.push({ at: index, wordAt: length + index - from });
        length += index - from + word.length;
        from = end + closing.length;
        this.#tags.push(markdown.slice(index, from));
      }
    }
    if (open > MOST_UNCLOSED)
      throw new MarkdownProblem(`Must close its template tags: more than ${MOST_UNCLOSED} have no end.`);
    this.#places = places;
    return parts.join('') + markdown.slice(from);
  }

  #word(index: number): string {
    return `TAG${this.#nonce}N${index}E`;
  }

  /** The offset that was at this one before the only text was hidden; within a word that of its tag. */
  offsetBefore(at: number): number {
    const index = this.#places.findLastIndex(({ wordAt }) => wordAt <= at);
    const place = this.#places[index];
    if (!place) return at;
    const beyond = at - place.wordAt - this.#word(index).length;
    return beyond < 0 ? place.at : place.at + (this.#tags[index]?.length ?? 0) + beyond;
  }

  /** True when the text holds a hidden tag. */
  hides(text: string): boolean {
    return text.includes(`TAG${this.#nonce}N`);
  }

  /**
   * The first tag of a kind that a result has lost, with its offset in the only text that was hidden; null
   * where all are there.
   */
  firstMissing(
    text: string,
    isOfKind: (tag: string) => boolean,
  ): { readonly tag: string; readonly at: number } | null {
    const there = new Set(
      [...text.matchAll(new RegExp(`TAG${this.#nonce}N(\\d+)E`, 'g'))].map(([, index]) => Number(index)),
    );
    const missing = this.#tags.findIndex((tag, index) => isOfKind(tag) && !there.has(index));
    return missing === -1 ? null : { tag: this.#tags[missing] ?? '', at: this.#places[missing]?.at ?? 0 };
  }

  /** The text with its tags again, each passed through `as`. */
  restore(text: string, as: (tag: string) => string): string {
    if (this.#tags.length === 0) return text;
    return text.replace(new RegExp(`TAG${this.#nonce}N(\\d+)E`, 'g'), (_, index: string) => {
      const tag = as(this.#tags[Number(index)] ?? '');
      this.#restored += tag.length;
      if (this.#restored > MOST_RESTORED)
        throw new MarkdownProblem('Must not repeat template tags so often.');
      return tag;
    });
  }
}
