import type { RawResponse } from '../../../http/request/route.ts';
import { GUIDES, type Guide } from '../guides.ts';
import { type Html, html, inline, snippet } from '../html.ts';
import type { Installation } from '../installation.ts';
import { page } from '../page.ts';
import { PAGE_GROUPS } from './pages.ts';

const LABELS = new Map<string, string>(
  PAGE_GROUPS.flatMap(({ pages }) => pages.map(({ path, label }) => [path, label] as const)),
);

/** The start of the documentation: the first email, and a guide for each framework. */
export function guidesPage({ baseUrl, simulator }: Installation): RawResponse {
  const first = `curl '${baseUrl}/v1/emails' \\
  -H "Authorization: Bearer $POSTHORN_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"from": "Acme <hello@acme.example>", "to": "delivered@${simulator}",
       "subject": "Hello", "text": "My first email."}'`;
  return page({
    title: 'Guides',
    path: '/docs/guides',
    sections: [
      { href: '#the-first-email', label: 'The first email' },
      { href: '#your-framework', label: 'Your framework' },
      { href: '#then', label: 'Then' },
    ],
    body: html`<article class="guide">
<h1>Send your first email</h1>
<p class="lead">Ask the HTTP API, or let the mailer that your framework brings speak SMTP. Begin with a test key: it runs everything and sends nothing.</p>
<h2 id="the-first-email"><a href="#the-first-email">The first email</a></h2>
<ol class="steps">
<li>Make a key of the test environment under <a href="/app/test/api-keys">API keys</a>.</li>
<li>Send an email to the simulator, which takes it at once:${snippet(first, 'sh')}</li>
<li>Watch it arrive under <a href="/app/test/emails">Emails</a>.</li>
</ol>
<h2 id="your-framework"><a href="#your-framework">Your framework</a></h2>
<ul class="cards">${GUIDES.map(card)}</ul>
<h2 id="then"><a href="#then">Then</a></h2>
<ul>
<li><a href="/docs/webhooks">Receive webhooks</a>, and verify them.</li>
<li>Write the content as <a href="/docs/templates">templates</a>.</li>
<li>Look up every request in the <a href="/docs">API reference</a>, and every <a href="/docs/errors">error code</a>.</li>
<li>Read <a href="/docs/life-of-an-email">what becomes of an email</a>, and <a href="/docs/what-happens-when">what happens when</a> something breaks.</li>
</ul>
</article>`,
  });
}

const card = ({ path, summary }: Guide): Html =>
  html`<li><a href="${path}"><strong>${LABELS.get(path)}</strong><span>${inline(summary)}</span></a></li>
`;
