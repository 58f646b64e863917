import type { RawResponse } from '../../http/route.ts';
import { Html, html } from './html.ts';
import { type PagePath, page } from './page.ts';

/** A guide from this repository, written in markdown, as a page with an anchor for each of its sections. */
export function guidePage(title: string, path: PagePath, markdown: string): RawResponse {
  const sections: { readonly href: string; readonly label: string }[] = [];
  const body = Bun.markdown.html(markdown).replace(/<h2>(.*?)<\/h2>/g, (_, heading: string) => {
    const label = heading.replace(/<[^>]*>/g, '');
    const id = label.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    sections.push({ href: `#${id}`, label });
    return `<h2 id="${id}"><a href="#${id}">${heading}</a></h2>`;
  });
  return page({
    title,
    path,
    navigation: [{ title: 'On this page', entries: sections }],
    body: html`<article class="guide">${new Html(body)}</article>`,
  });
}
