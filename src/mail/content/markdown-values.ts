/**
 * Markdown that cannot become an email. The message is a sentence for the client that repeats nothing of the
 * markdown.
 */
export class MarkdownProblem extends Error {
  override readonly name = 'MarkdownProblem';
}

// The grammar of every value that emailmd writes into a style or an attribute as it is. Nothing that passes
// can end the value it stands in, and nothing can name a place to load from.

/** `#0b5fff`, `rebeccapurple`, `rgba(0, 0, 0, .5)`. */
export const COLOUR =
  /^(?:#[\da-f]{3,4}|#[\da-f]{6}|#[\da-f]{8}|[a-z]{3,20}|(?:rgb|hsl)a?\([\d., %]{3,40}\))$/i;

/** `16px`, `1.5em`, `50%`. */
export const LENGTH = /^\d{1,4}(?:\.\d{1,3})?(?:px|em|rem|%)$/;

/** `Georgia, 'Times New Roman', serif`. */
export const FONTS = /^[\w ,'-]{1,200}$/;

/** The side that a text is aligned to. */
export const ALIGNMENT = /^(?:left|center|right)$/;
