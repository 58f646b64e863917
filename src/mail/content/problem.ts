/** Markdown that cannot become an email, and why: a sentence for the client that repeats nothing of it. */
export class MarkdownProblem extends Error {
  override readonly name = 'MarkdownProblem';
}
