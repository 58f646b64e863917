import { Failure } from '../../../platform/errors/failure.ts';

// A browser attaches the session cookie to every request, even when a page of another site triggers it. Two
// headers that no page can write reveal the site of the page: Sec-Fetch-Site (Fetch Metadata) and Origin
// (RFC 6454, 7).
/** The refusal of a request that a page of another site triggered. */
export const OTHER_SITE = new Failure(
  'FORBIDDEN',
  'Pages of other sites may not use the session of this browser.',
  {
    suggestion:
      'Send the request from a page of this service. Other programs use an API key in the Authorization header.',
  },
);

/**
 * True when the browser states that a page of this service sent the request. A request without either header
 * is refused.
 */
export function isFromOwnPage(headers: Headers, publicUrl: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return headers.get('origin') === new URL(publicUrl).origin;
}

/**
 * True when a page of another site opens this WebSocket. No preflight protects a handshake, but every browser
 * sends its Origin (RFC 6455, 4.1 and 10.2); other programs send none. The service may be reached under
 * another name than its public one, so a page whose origin is the Host of the request, with the same scheme,
 * counts as the service's own.
 */
export function isForeignHandshake(headers: Headers, publicUrl: string): boolean {
  const origin = headers.get('origin');
  if (origin === null) return false;
  const own = new URL(publicUrl);
  return origin !== own.origin && origin !== `${own.protocol}//${headers.get('host') ?? ''}`;
}
