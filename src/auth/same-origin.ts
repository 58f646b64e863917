import { Failure } from '../http/failure.ts';

// A browser sends the cookie of a session along whoever's page makes it ask. Two headers that no page can write tell whose
// page that is: Sec-Fetch-Site (Fetch Metadata) and Origin (RFC 6454, 7).

/** The refusal of what a page of another site has made a browser ask. */
export const OTHER_SITE = new Failure(
  'FORBIDDEN',
  'A page of another site may not use the session of this browser.',
  {
    suggestion:
      'Send the request from a page of this service; other programs use an API key in the Authorization header.',
  },
);

/** Whether the browser says that a page of this service asks. A request that says nothing of it is not taken for one. */
export function isFromOwnPage(headers: Headers, publicUrl: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return headers.get('origin') === new URL(publicUrl).origin;
}

/**
 * Whether a page of another site opens this WebSocket: no preflight protects it, and every browser sends its Origin (RFC
 * 6455, 4.1 and 10.2). Tools that are no browser send none. A page may have reached the service under another name than
 * the public one; it is its own then as well, with the same scheme.
 */
export function isForeignHandshake(headers: Headers, publicUrl: string): boolean {
  const origin = headers.get('origin');
  if (origin === null) return false;
  const own = new URL(publicUrl);
  return origin !== own.origin && origin !== `${own.protocol}//${headers.get('host') ?? ''}`;
}
