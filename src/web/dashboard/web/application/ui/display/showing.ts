import { patch } from './patch.ts';

/** Characters that are parsed in one step: about a millisecond. */
const PARSED_AT_ONCE = 8_192;

/** Shows a message in a document, in small steps. */
export function* showing(shown: Document, html: string): Generator<undefined> {
  // A document without a window loads nothing, and has the policy of the frame: that of the application has
  // no inline styles.
  const next = shown.implementation.createHTMLDocument('');
  for (let at = 0; at === 0 || at < html.length; at += PARSED_AT_ONCE) {
    next.write(html.slice(at, at + PARSED_AT_ONCE));
    yield;
  }
  next.close();
  // The frame runs no script. Here they are not even elements of its document.
  for (const script of next.querySelectorAll('script')) script.remove();
  const base = next.createElement('base');
  base.target = '_blank';
  next.head.prepend(base);
  yield* patch(shown.documentElement, next.documentElement);
}
