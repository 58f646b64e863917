// The entry point of a thread of its own, and of a bundle of its own in the executable (scripts/build.ts). emailmd and mjml
// are loaded here alone: they take 65 MB and 100 ms, which a service without markdown does not pay and no request waits for.
import { serve } from '../../threads/serve.ts';
import { MarkdownProblem } from './markdown-values.ts';
import { type RenderedMarkdown, renderMarkdown, type TemplateFrame } from './render-markdown.ts';

/** A markdown to be rendered. */
export interface RenderRequest {
  readonly markdown: string;
  readonly title: string;
  /** Of a template, whose Liquid stays. */
  readonly template?: TemplateFrame | null;
}

/** The two parts, or the reason that there are none. */
export type RenderResult = RenderedMarkdown | { readonly problem: string };

serve(async ({ markdown, title, template }: RenderRequest): Promise<RenderResult> => {
  try {
    return await renderMarkdown(markdown, title, crypto.randomUUID().replaceAll('-', ''), template);
  } catch (error) {
    if (error instanceof MarkdownProblem) return { problem: error.message };
    throw error;
  }
});
