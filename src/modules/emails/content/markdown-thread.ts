// The entry point of a thread of its own, and of a bundle of its own in the executable (scripts/build.ts). emailmd and mjml
// are loaded here alone: 65 MB and 100 ms that a service without markdown does not pay, and no request waits for.
import { MarkdownProblem } from './problem.ts';
import { type RenderedMarkdown, renderMarkdown } from './render-markdown.ts';

/** What the thread is asked for. */
export interface Commission {
  readonly markdown: string;
  readonly title: string;
}

/** What it answers: `ready` once it has been loaded, then one reply to each commission. */
export type Delivery = 'ready' | RenderedMarkdown | { readonly problem: string } | { readonly fault: string };

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<Commission>) => self.postMessage(await deliver(data));
self.postMessage('ready' satisfies Delivery);

async function deliver({ markdown, title }: Commission): Promise<Delivery> {
  try {
    return await renderMarkdown(markdown, title, crypto.randomUUID().replaceAll('-', ''));
  } catch (error) {
    if (error instanceof MarkdownProblem) return { problem: error.message };
    // The message of an error in a parser may repeat what was parsed.
    return { fault: error instanceof Error ? error.name : typeof error };
  }
}
