import type { Brand } from '../../accounts/workspace/queries.ts';
import { RawResponse } from '../../http/request/route.ts';
import { colourOr, inkOn } from '../../mail/message/ink.ts';
import { directionOf } from '../../platform/text/language.ts';
import type { PageTexts } from './texts/en.ts';

/** Text as HTML. */
export const html = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A page for recipients: its content and its sender. */
export interface RecipientPage {
  readonly texts: PageTexts;
  readonly title: string;
  /** HTML. */
  readonly body: string;
  readonly brand: Brand | null;
}

const USUAL_COLOUR = '#0f5bd7';

const styleOf = (
  colour: string,
  font: string,
): string => `:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--line:#8c959f}
@media (prefers-color-scheme:dark){:root{--ink:#f0f3f6;--soft:#b1bac4;--paper:#161b22;--line:#6e7681}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 ${font}}
main,footer{max-width:34rem;margin:0 auto;padding:1.5rem}main{padding-top:10vh}
img{max-height:48px;max-width:100%}h1{font-size:1.5rem;line-height:1.25;margin:1rem 0}
p,legend,small{overflow-wrap:anywhere}small,footer,.soft{color:var(--soft)}footer a{color:inherit}
fieldset{border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem;margin:0 0 1rem}legend{padding:0 .25rem;font-weight:600}
label{display:flex;gap:.75rem;padding:.5rem 0;align-items:flex-start}input{width:1.5rem;height:1.5rem;flex:none;margin:0;accent-color:${colour}}
label small{display:block}button{font:inherit;min-height:2.75rem;padding:.5rem 1.25rem;border-radius:.5rem;border:1px solid var(--line);cursor:pointer;background:transparent;color:inherit}
button.main{background:${colour};border-color:${colour};color:${inkOn(colour)}}form+form{margin-top:2rem}
:focus-visible{outline:3px solid var(--ink);outline-offset:2px}[role=status]{border-inline-start:4px solid ${colour};padding:.5rem 1rem;margin:0 0 1rem}`;

/** The source of the logo is named only where a header can hold it. */
const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

/**
 * Writes a page: nothing of it is loaded from elsewhere, cached, framed, indexed or passed on, and it works
 * without scripts.
 */
export function recipientPage({ texts, title, body, brand }: RecipientPage, status = 200): RawResponse {
  const colour = colourOr(brand?.colour, USUAL_COLOUR);
  const style = styleOf(colour, brand?.fontFamily ?? 'system-ui,sans-serif');
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64');
  const logoOrigin = brand?.logoUrl ? originOf(brand.logoUrl) : null;
  const sources = logoOrigin === null ? '' : ` img-src ${logoOrigin};`;
  return new RawResponse(
    'text/html; charset=utf-8',
    `<!doctype html><html lang="${texts.language}" dir="${directionOf(texts.language)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${html(title)}</title><style>${style}</style></head><body><main>${logoOf(brand)}<h1>${html(title)}</h1>${body}</main>${footerOf(brand)}</body></html>`,
    {
      status,
      headers: {
        'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}';${sources} form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
        'cache-control': 'no-store',
        vary: 'accept-language',
        'x-robots-tag': 'noindex, nofollow',
      },
    },
  );
}

function logoOf(brand: Brand | null): string {
  if (!brand) return '';
  return brand.logoUrl === null
    ? `<p class="soft">${html(brand.name)}</p>`
    : `<img src="${html(brand.logoUrl)}" alt="${html(brand.name)}">`;
}

function footerOf(brand: Brand | null): string {
  const website = brand?.website
    ? `<a href="${html(brand.website)}" rel="noreferrer noopener">${html(brand.website)}</a>`
    : '';
  const address = brand?.address ? html(brand.address).replaceAll('\n', '<br>') : '';
  const parts = [address, website].filter((part) => part !== '');
  return parts.length === 0 ? '' : `<footer>${parts.join('<br>')}</footer>`;
}

/** The answer to a link that was cut off or changed, whose recipient is unknown. */
export const badLinkPage = (texts: PageTexts): RawResponse =>
  recipientPage({ texts, brand: null, title: texts.badLink, body: `<p>${html(texts.badLinkHint)}</p>` }, 400);

/** Asks before anything happens: programs follow links on their own. */
export const askToUnsubscribe = (texts: PageTexts, brand: Brand | null): RawResponse =>
  recipientPage({
    texts,
    brand,
    title: texts.unsubscribe,
    body: `<p>${html(texts.askUnsubscribe)}</p><form method="post"><button class="main" name="source" value="page">${html(texts.unsubscribe)}</button></form>`,
  });

/** The answer to every unsubscription, also a repeated one, with the way to the preferences. */
export const unsubscribedPage = (texts: PageTexts, brand: Brand | null, preferences: string): RawResponse =>
  recipientPage({
    texts,
    brand,
    title: texts.unsubscribed,
    body: `<p>${html(texts.noMore)}</p><p><a href="${html(preferences)}">${html(texts.chooseInstead)}</a></p>`,
  });

/**
 * The answer to the link in a test email, also to a mail program: it names no recipient, and changes nothing.
 */
export const testExitPage = (texts: PageTexts): RawResponse =>
  recipientPage({ texts, brand: null, title: texts.isTest, body: `<p>${html(texts.isTestHint)}</p>` });
