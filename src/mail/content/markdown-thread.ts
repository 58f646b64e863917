// The entry point of a thread of its own, and of a bundle of its own in the executable (scripts/build.ts). emailmd and mjml
// are loaded here alone: they take 65 MB and 100 ms, which a service without markdown does not pay and no request waits for.
import { serve } from '../../platform/threads/serve.ts';
import { ownTime } from '../../platform/threads/thread-time.ts';
import { MarkdownProblem } from './markdown-values.ts';
import { type RenderedMarkdown, renderMarkdown, type TemplateFrame } from './render-markdown.ts';

/** A markdown to be rendered. */
export interface RenderRequest {
  readonly markdown: string;
  readonly title: string;
  /** Of a template, whose Liquid stays. */
  readonly template?: TemplateFrame | null;
}

/** The two parts, or the reason that there are none, and the milliseconds of processor time that it took. */
export type RenderResult = { readonly ms: number } & (RenderedMarkdown | { readonly problem: string });

const nonce = (): string => crypto.randomUUID().replaceAll('-', '');

// The first rendering of a thread takes ten times as long as the next ones; it counts for no workspace.
await renderMarkdown(
  '# One\n\nTwo *three* [four](https://example.com){button}\n\n- five\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> six\n\n---\n',
  'Warm',
  nonce(),
);

serve(async ({ markdown, title, template }: RenderRequest): Promise<RenderResult> => {
  const before = ownTime();
  try {
    const rendered = await renderMarkdown(markdown, title, nonce(), template);
    return { ...rendered, ms: ownTime() - before };
  } catch (error) {
    if (error instanceof MarkdownProblem) return { problem: error.message, ms: ownTime() - before };
    throw error;
  }
});
