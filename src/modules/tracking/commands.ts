import type { Signer } from '../../db/sign.ts';
import type { Unsubscribe } from '../../transport/transport.ts';
import { beforeBodyEnd, rewriteLinks } from './rewrite.ts';
import { type Link, linkToken, type Purpose } from './tokens.ts';

/** Whose copy it is, and what is to be known of it. */
export interface Tracked {
  readonly destination: { readonly emailId: string; readonly recipient: number };
  readonly workspaceId: string;
  readonly address: string;
  /** A host of the sender's own for the links; null for this service's address. */
  readonly host: string | null;
  readonly opens: boolean;
  readonly clicks: boolean;
  readonly isBulk: boolean;
}

/** The two parts of a message. */
export interface Parts {
  readonly text: string | null;
  readonly html: string | null;
}

/** What links are made with. */
export interface LinkMaker {
  readonly signer: Signer;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
  /** The text part that is sent when only html was given. */
  textFromHtml(html: string): string;
}

/** A sender who writes this offers a way off the list: it becomes the link, and the headers say the same (RFC 8058). */
const PLACEHOLDER = /\{\{\s*unsubscribeUrl\s*\}\}/g;

/** Links longer than this are left alone: what holds them and a signature would not survive every mail program. */
const LONGEST_URL = 2_048;

/** Makes the parts of a copy its recipient's own: links that tell who opened, clicked or wants no more. */
export function personaliser({ signer, publicUrl, textFromHtml }: LinkMaker) {
  return ({ text, html }: Parts, tracked: Tracked): Parts & { readonly unsubscribe: Unsubscribe | null } => {
    const { destination, workspaceId, address, host, opens, clicks, isBulk } = tracked;
    const base = host === null ? publicUrl : `https://${host}`;
    const link = (purpose: Purpose, letter: string, target = ''): string => {
      const content: Link = { ...destination, target };
      return `${base}/t/${letter}/${linkToken(purpose, content, signer)}`;
    };
    const offersExit =
      isBulk || [text, html].some((part) => part !== null && part.search(PLACEHOLDER) !== -1);
    // It names the person, since it has to work when the email has long been deleted.
    const exit = offersExit ? link('unsubscribe', 'u', `${workspaceId} ${address}`) : null;
    const withExit = (part: string): string => (exit === null ? part : part.replace(PLACEHOLDER, exit));

    // The text part is made before anything is counted: it names the places that the links really lead to.
    const written = html === null ? null : withExit(html);
    const plain = text !== null ? withExit(text) : written === null ? null : textFromHtml(written);
    return {
      text: plain,
      html: written === null ? null : counted(written),
      unsubscribe: exit === null ? null : { url: exit, mailto: null },
    };

    function counted(page: string): string {
      const clickable = clicks
        ? rewriteLinks(page, (url) =>
            url === exit || url.length > LONGEST_URL ? escaped(url) : link('click', 'c', url),
          )
        : page;
      return opens ? beforeBodyEnd(clickable, pixel(link('open', 'o'))) : clickable;
    }
  };
}

const pixel = (url: string): string =>
  `<img src="${url}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`;

const escaped = (url: string): string => url.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
