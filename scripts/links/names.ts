import type { MarkdownPage } from './problems.ts';

/** A fence of code shows examples, which may use foreign names. */
const FENCE = /^( *)(```+|~~~+).*?^\1\2 *$/gms;
const CODE = /`([^`\n]+)`/g;
/** A word that is no part of a path, an option, a host or a text in quotes. */
const WORD = /(?<![\w./:@-])[A-Za-z_]\w*(?![\w-]|\.[a-z])/g;
/**
 * The names in this code: two words in one. Names with an underscore are those of other programs, but for our
 * metrics.
 */
const NAME = /^[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*$|^posthorn_/;
/** Names of other software in the pages. */
const FOREIGN: ReadonlySet<string> = new Set([
  'PutObject',
  'GetObject',
  'DeleteObject',
  'bytecodeOrder',
  'ApproximateNumberOfMessagesVisible',
]);

/** Every word of source texts. */
export function wordsOf(texts: Iterable<string>): ReadonlySet<string> {
  const words = new Set<string>();
  for (const text of texts) for (const [word] of text.matchAll(/[A-Za-z_]\w*/g)) words.add(word);
  return words;
}

/** Names in the code of pages that no source has: what they were renamed to, or went, without the page. */
export function nameProblems(pages: readonly MarkdownPage[], known: ReadonlySet<string>): readonly string[] {
  const problems: string[] = [];
  for (const { path, text } of pages) {
    const prose = text.replace(FENCE, (fence) => fence.replace(/[^\n]/g, ' '));
    for (const code of prose.matchAll(CODE))
      for (const [name] of (code[1] ?? '').matchAll(WORD)) {
        if (!NAME.test(name) || known.has(name) || FOREIGN.has(name)) continue;
        const line = prose.slice(0, code.index).split('\n').length;
        problems.push(`${path}:${line}: no source contains the name ${name}.`);
      }
  }
  return problems;
}
