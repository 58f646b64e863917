import type { RawResponse } from '../../../http/request/route.ts';
import { STATUS_OF } from '../../../platform/errors/failure.ts';
import { CODE_NAMES, CODES } from '../codes.ts';
import { html, inline, snippet } from '../html.ts';
import { page } from '../page.ts';

const EXAMPLE = JSON.stringify(
  {
    error: {
      code: 'VALIDATION_ERROR',
      message: 'One value of the request is not valid.',
      docs: '…/docs/errors#VALIDATION_ERROR',
      details: [{ path: '/body/to/3', message: 'Send a string.' }],
    },
  },
  null,
  2,
);

/** The target of every error's `docs` link, with an anchor for each code. */
export function errorsPage(): RawResponse {
  const entries = CODE_NAMES.map(
    (code) => html`<article class="code" id="${code}">
<h2><a href="#${code}">${code}</a> <span class="status">${STATUS_OF[code]}</span></h2>
<p>${inline(CODES[code].meaning)}</p>
<p><strong>What to do.</strong> ${inline(CODES[code].remedy)}</p>
<p class="hint">${CODES[code].retry === 'later' ? 'The same request may succeed later.' : 'The same request will be refused again.'}</p>
</article>
`,
  );
  return page({
    title: 'Errors',
    path: '/docs/errors',
    sections: CODE_NAMES.map((code) => ({ href: `#${code}`, label: code })),
    body: html`<article class="guide"><h1>Errors</h1>
<p>Every response that is no success carries an <code>error</code>. Programs branch on its <code>code</code>, which is one of those below; its <code>message</code> is for people and may change. <code>details</code> comes with <code>VALIDATION_ERROR</code> alone, <code>suggestion</code> where there is something to suggest.</p>
${snippet(EXAMPLE, 'json')}
<p>The header <code>x-request-id</code> names the request in the log of the service.</p>
${entries}</article>`,
  });
}
