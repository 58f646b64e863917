import type { RawResponse } from '../../../http/request/route.ts';
import { Html, html, snippet } from '../html.ts';
import { page, type Section } from '../page.ts';
import type { PagePath } from './pages.ts';

const FENCE = /^```(\w*) *(.*)\n([\s\S]*?)\n```$/gm;

/** A guide from this repository, written in markdown, as a page with an anchor for each of its sections. */
export function guidePage(title: string, path: PagePath, markdown: string): RawResponse {
  const snippets: Html[] = [];
  const sections: Section[] = [];
  // Code is put in afterwards: markdown would take it apart at its empty lines.
  const prose = markdown.replace(FENCE, (_, language: string, file: string, code: string) => {
    snippets.push(snippet(code, language, file));
    return `SNIPPET-${snippets.length - 1}-`;
  });
  const body = Bun.markdown
    .html(prose)
    .replace(/<h2>(.*?)<\/h2>/g, (_, heading: string) => {
      const label = heading.replace(/<[^>]*>/g, '');
      const id = label.toLowerCase().replace(/[^a-z0-9]+/g, '-');
      sections.push({ href: `#${id}`, label });
      return `<h2 id="${id}"><a href="#${id}">${heading}</a></h2>`;
    })
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replace(/<p>SNIPPET-(\d+)-<\/p>/g, (_, number: string) => snippets[Number(number)]?.text ?? '');
  return page({
    title,
    path,
    sections,
    body: html`<article class="guide">${new Html(body)}</article>`,
  });
}
