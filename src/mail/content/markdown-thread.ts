// The entry point of a thread of its own, and of a bundle of its own in the executable (scripts/build.ts). emailmd and mjml
// are loaded here alone: 65 MB and 100 ms that a service without markdown does not pay, and no request waits for.
import { serve } from '../../threads/serve.ts';
import { MarkdownProblem } from './markdown-values.ts';
import { type RenderedMarkdown, renderMarkdown } from './render-markdown.ts';

/** What the thread is asked for. */
export interface Commission {
  readonly markdown: string;
  readonly title: string;
}

/** What it answers. */
export type Delivery = RenderedMarkdown | { readonly problem: string };

serve(async ({ markdown, title }: Commission): Promise<Delivery> => {
  try {
    return await renderMarkdown(markdown, title, crypto.randomUUID().replaceAll('-', ''));
  } catch (error) {
    if (error instanceof MarkdownProblem) return { problem: error.message };
    throw error;
  }
});
