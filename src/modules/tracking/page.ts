import { RawResponse } from '../../http/route.ts';

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1.5rem}
button{font:inherit;padding:.6rem 1.2rem;border-radius:.4rem;border:1px solid;cursor:pointer}`;

const STYLE_HASH = new Bun.CryptoHasher('sha256').update(STYLE).digest('base64');

/** Headers of pages that anybody may open from a personal link: nothing is loaded, cached, framed, indexed or passed on. */
const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
};

const page = (title: string, body: string, status = 200): RawResponse =>
  new RawResponse(
    'text/html; charset=utf-8',
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head><body><h1>${title}</h1>${body}</body></html>`,
    { status, headers: HEADERS },
  );

/** Asks before anything happens: programs follow links on their own. */
export const askPage = (): RawResponse =>
  page(
    'Unsubscribe',
    '<p>Do you want no more of these emails?</p><form method="post"><button name="source" value="page">Unsubscribe</button></form>',
  );

/** The answer to every unsubscription, also a repeated one. */
export const donePage = (): RawResponse =>
  page('You are unsubscribed', '<p>You will get no more of these emails. You can close this page.</p>');

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** A transparent pixel. */
export const pixel = (): RawResponse =>
  new RawResponse('image/gif', new Uint8Array(PIXEL), {
    headers: {
      'cache-control': 'no-store, no-cache, must-revalidate, private',
      'content-security-policy': "default-src 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      'x-robots-tag': 'noindex, nofollow',
    },
  });

const ASCII = /^[!-~]*$/;

/** Redirects to the target of a link, which was signed here. A header holds ASCII alone, so other URLs are normalised. */
export const onwards = (location: string): RawResponse =>
  new RawResponse(null, null, {
    status: 302,
    headers: {
      location: ASCII.test(location) ? location : new URL(location).href,
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'",
      'x-robots-tag': 'noindex, nofollow',
    },
  });
