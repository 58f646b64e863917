import { describe, expect, test } from 'bun:test';
import { MarkdownProblem } from '../../src/mail/content/markdown-values.ts';
import { renderMarkdown } from '../../src/mail/content/render-markdown.ts';

const NONCE = '0123456789abcdef';

const rendered = (markdown: string) => renderMarkdown(markdown, 'Subject', NONCE);

const refusal = async (markdown: string): Promise<string> => {
  const problem = await rendered(markdown).catch((reason: unknown) => reason);
  if (!(problem instanceof MarkdownProblem))
    throw problem instanceof Error ? problem : new Error('it was rendered');
  return problem.message;
};

describe('quotes and lists within each other', () => {
  const quoted = (depth: number) => `before\n\n${'> '.repeat(depth)}deep\n\nafter`;
  const listed = (depth: number) =>
    Array.from({ length: depth }, (_, n) => `${'  '.repeat(n)}- item${n}`).join('\n');

  test('are written to the last word up to a depth of 40, and refused beyond', async () => {
    expect((await rendered(quoted(40))).html).toContain('deep');
    expect((await rendered(listed(40))).html).toContain('item39');
    for (const markdown of [quoted(41), quoted(3_000), listed(41), `${'- '.repeat(41)}x`])
      expect(await refusal(markdown)).toBe('Must nest quotes and lists at most 40 deep.');
  });

  test('are not mistaken for a rule, or for text that is far to the right', async () => {
    for (const markdown of ['- '.repeat(100), `${' '.repeat(200)}text`, `a > b ${'> '.repeat(90)}`])
      expect((await rendered(`${markdown}\n\nafter`)).html).toContain('after');
  });
});
