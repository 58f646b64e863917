import { colored } from './code-colors.js';

/** Escaped HTML. `html` makes it, so that no text gets into a page unescaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | false | null | undefined | readonly Part[];

/** A template of HTML, which escapes every value that is not HTML itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + render(parts[i - 1]) + string));
}

/** A phrase, with text between backticks as code. */
export function inline(text: string): Html {
  const parts = text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part));
  return html`${parts}`;
}

/** Lines of code to read and to copy, with the name of the file that they are meant for. */
export function snippet(code: string, language = '', file = ''): Html {
  const marked = colored(code, language);
  const lines = marked === null ? html`${code}` : new Html(marked);
  // The button that copies is put in by the script of the pages.
  return html`<figure class="snippet"${file !== '' && html` data-file="${file}"`}>${
    file !== '' && html`<figcaption>${file}</figcaption>`
  }<pre tabindex="0"><code>${lines}</code></pre></figure>`;
}

function render(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(render).join('');
  return part === false || part === null || part === undefined ? '' : Bun.escapeHTML(String(part));
}
