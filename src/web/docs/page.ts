import { RawResponse } from '../../http/request/route.ts';
import { type Html, html } from './html.ts';
import { PAGE_GROUPS, type PageGroup, type PagePath } from './pages/pages.ts';

/** A place on a page: an anchor, and what it is called. */
export interface Section {
  readonly href: string;
  readonly label: string;
}

/** The content of a page of the documentation. */
export interface PageContent {
  readonly title: string;
  /** The path of the page itself, which is marked in the list of pages. */
  readonly path: PagePath;
  readonly sections: readonly Section[];
  readonly body: Html;
}

/** A page that its own script draws, from built files. */
export interface ScriptedPage {
  readonly title: string;
  readonly path: PagePath;
  /** The addresses of its files. */
  readonly styles: string;
  readonly script: string;
  readonly body: Html;
}

/**
 * The policy allows nothing inline and nothing from other servers: no fonts, scripts or pictures of third
 * parties.
 */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The headers of the pages and their assets. Browsers always revalidate them, because an upgrade changes them
 * in place.
 */
export const PAGE_HEADERS = { 'content-security-policy': POLICY, 'cache-control': 'no-cache' };

/** Makes a page of the documentation, which is readable without its script and needs no other server. */
export const page = ({ title, path, sections, body }: PageContent): RawResponse =>
  documentOf({
    title,
    path,
    head: '',
    tools: html`<button type="button" class="search" hidden>Search <kbd>/</kbd></button>
<button type="button" class="menu" popovertarget="pages">Menu</button>`,
    body: html`<div class="layout">
<nav class="side" id="pages" popover aria-label="Pages">
${PAGE_GROUPS.map((group) => pageGroup(group, path))}</nav>
<main id="content" tabindex="-1">
${body}
</main>
<nav class="contents" aria-label="On this page">${
      sections.length > 1 &&
      html`<h2>On this page</h2>
<ul>${sections.map(({ href, label }) => html`<li><a href="${href}">${breakable(label)}</a></li>`)}</ul>`
    }</nav>
</div>`,
  });

/** A long name in capitals breaks after an underscore. */
const breakable = (label: string): readonly Html[] =>
  label.split(/(?<=_)/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`));

/** Makes a page whose script draws it. Its body is shown until then, and to readers without scripts. */
export const scriptedPage = ({ title, path, styles, script, body }: ScriptedPage): RawResponse =>
  documentOf({
    title,
    path,
    body,
    head: html`<link rel="stylesheet" href="${styles}">
<script src="${script}" type="module"></script>
`,
    tools: '',
  });

interface Document {
  readonly title: string;
  readonly path: PagePath;
  readonly head: Html | '';
  /** The header content that only this kind of page has. */
  readonly tools: Html | '';
  readonly body: Html;
}

function documentOf({ title, path, head, tools, body }: Document): RawResponse {
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === 'Posthorn' ? title : `${title} · Posthorn`}</title>
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/docs.js"></script>
${head}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/docs/guides"><img src="/docs/icon.svg" alt="" width="26" height="26"><span>Posthorn</span> Docs</a>
<nav class="areas" aria-label="Documentation">${AREAS.map(
    ([href, label]) =>
      html`<a href="${href}"${href === areaOf(path) && html` aria-current="true"`}>${label}</a>`,
  )}</nav>
<div class="tools">
${tools}
<button type="button" class="theme" hidden></button>
<a class="to-app" href="/app">Dashboard</a>
</div>
</header>
${body}
</body>
</html>`;
  return new RawResponse('text/html; charset=utf-8', text.text, { headers: PAGE_HEADERS });
}

const AREAS = [
  ['/docs/guides', 'Guides'],
  ['/docs', 'API reference'],
  ['/docs/errors', 'Errors'],
] as const;

/** The area of the documentation that a page belongs to. */
const areaOf = (path: PagePath): string =>
  path === '/docs' || path === '/docs/errors' ? path : '/docs/guides';

const pageGroup = ({ title, pages }: PageGroup, current: PagePath): Html =>
  html`<h2>${title}</h2>
<ul>${pages.map(
    ({ path, label }) =>
      html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${label}</a></li>`,
  )}</ul>
`;
