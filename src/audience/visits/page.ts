import { RawResponse } from '../../http/request/route.ts';

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

/**
 * Redirects to the target of a link, which was signed here. A header holds ASCII alone, so other URLs are
 * normalised.
 */
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
