import { RawResponse } from '../../http/route.ts';
import { type Html, html } from './html.ts';

const SIBLINGS = [
  { path: '/docs', label: 'Reference' },
  { path: '/docs/templates', label: 'Templates' },
  { path: '/docs/webhooks', label: 'Webhooks' },
  { path: '/docs/errors', label: 'Errors' },
  { path: '/docs/life-of-an-email', label: 'Life of an email' },
  { path: '/docs/what-happens-when', label: 'What happens when …' },
] as const;

/** The path of a page of the documentation. */
export type PagePath = (typeof SIBLINGS)[number]['path'];

/** An entry of the navigation; `href` is an anchor on the page. */
export interface NavigationEntry {
  readonly href: string;
  readonly label: string;
  /** `POST`, in front of the label. */
  readonly method?: string;
}

/** Entries under one heading. */
export interface NavigationGroup {
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

/** The content of a page of the documentation. */
export interface PageContent {
  readonly title: string;
  /** The path of the page itself, which is marked in the list of pages. */
  readonly path: PagePath;
  readonly navigation: readonly NavigationGroup[];
  readonly body: Html;
}

/** The policy allows nothing inline and nothing from other servers: no fonts, scripts or pictures of third parties. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of the pages and their assets. Browsers always revalidate them, because an upgrade changes them in place. */
export const PAGE_HEADERS = { 'content-security-policy': POLICY, 'cache-control': 'no-cache' };

/** Makes a page of the documentation, which is readable without its script and needs no other server. */
export function page({ title, path, navigation, body }: PageContent): RawResponse {
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Posthorn</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/reference.css">
<script src="/docs/reference.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/docs">Posthorn</a>
<nav class="pages" aria-label="Pages">${SIBLINGS.map(
    (each) =>
      html`<a href="${each.path}"${each.path === path ? html` aria-current="page"` : ''}>${each.label}</a>`,
  )}<a href="/openapi.json">OpenAPI</a></nav>
</header>
<div class="layout">
<nav class="side" aria-label="On this page">
<label class="filter">Filter <input type="search" placeholder="Press / to filter" autocomplete="off" spellcheck="false"></label>
${navigation.map(group)}
</nav>
<main id="content" tabindex="-1">
${body}
</main>
</div>
</body>
</html>`;
  return new RawResponse('text/html; charset=utf-8', text.text, { headers: PAGE_HEADERS });
}

function group({ title, entries }: NavigationGroup): Html {
  return html`<section><h2>${title}</h2><ul>${entries.map(entry)}</ul></section>
`;
}

function entry({ href, label, method }: NavigationEntry): Html {
  const badge = method && html`<span class="verb ${method.toLowerCase()}">${method}</span> `;
  return html`<li><a href="${href}">${badge}<span>${label}</span></a></li>`;
}
