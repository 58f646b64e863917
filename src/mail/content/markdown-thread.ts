// The entry point of a thread and of a bundle in the executable (scripts/build.ts). emailmd and mjml are
// loaded here alone: they take 65 MB and 100 ms, which a service without markdown and MJML does not pay and
// no request waits for.

import type { Direction } from '../../platform/text/language.ts';
import { serve } from '../../platform/threads/serve.ts';
import { ownTime } from '../../platform/threads/thread-time.ts';
import { MarkdownProblem } from './markdown-values.ts';
import { type RenderedMarkdown, renderMarkdown, type TemplateFrame } from './render-markdown.ts';
import { type RenderedMjml, renderMjml } from './render-mjml.ts';

/** A markdown or an MJML to render. */
export type RenderRequest = { readonly direction: Direction } & (
  | {
      readonly markdown: string;
      readonly title: string;
      /** Of a template, whose Liquid stays. */
      readonly template?: TemplateFrame | null;
    }
  | { readonly mjml: string }
);

/** The result, or the reason that there is none, and the milliseconds of processor time that it took. */
export type RenderResult = { readonly ms: number } & (
  | RenderedMarkdown
  | RenderedMjml
  | { readonly problem: string }
);

const nonce = (): string => crypto.randomUUID().replaceAll('-', '');

// The first rendering of a thread takes ten times as long as the next ones; it counts for no workspace.
await renderMarkdown(
  '# One\n\nTwo *three* [four](https://example.com){button}\n\n- five\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> six\n\n---\n',
  'Warm',
  nonce(),
);

serve(async (request: RenderRequest): Promise<RenderResult> => {
  const before = ownTime();
  try {
    const rendered =
      'mjml' in request
        ? await renderMjml(request.mjml, nonce(), request.direction)
        : await renderMarkdown(request.markdown, request.title, nonce(), request);
    return { ...rendered, ms: ownTime() - before };
  } catch (error) {
    if (error instanceof MarkdownProblem) return { problem: error.message, ms: ownTime() - before };
    throw error;
  }
});
