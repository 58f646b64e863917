import { Type } from '@sinclair/typebox';
import { RawResponse, type Route, route } from '../../http/request/route.ts';
import { openPack } from './pack.ts';
import { packedFilesRoute, packedReply, whenBuilt } from './packed-files.ts';

/**
 * Scripts, styles, images and sockets of this service only: no inline code runs, no other site can frame the
 * page, and no form can be sent.
 */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  // Messages, which have a policy of their own (src/http/listen/message-frame.ts).
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'content-security-policy': CSP,
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

/**
 * The document into which the application writes an unstored message, such as a template that is being
 * edited. It runs no scripts and sends no forms; images load, because the message's author views it.
 */
const FRAME = new RawResponse('text/html; charset=utf-8', '<!doctype html><title>Preview</title>', {
  headers: {
    'content-security-policy': [
      'sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox',
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      "img-src 'self' https: data:",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'self'",
    ].join('; '),
    'cache-control': 'no-cache',
    'cross-origin-resource-policy': 'same-origin',
    'x-dns-prefetch-control': 'off',
  },
});

/** A temporary redirect: browsers must not remember it. */
const leadTo = (location: string) => () =>
  new RawResponse(null, null, {
    status: 302,
    headers: { location, 'cache-control': 'no-store', vary: 'accept' },
  });

const OF_WORKSPACE = { workspace: { prefix: 'ws', resource: 'page' } } as const;

/** A page, which a checkout builds at its first request. */
const page = (path: string, summary: string): Route =>
  route(`GET ${path}`, {
    permission: 'public',
    summary,
    ...(path.includes('/:workspace') && { params: OF_WORKSPACE, onlyForIds: true }),
    response: Type.Unknown(),
    handle: ({ headers }) =>
      whenBuilt(openPack(), PAGE_HEADERS, ({ page: document }) =>
        packedReply(document, headers, PAGE_HEADERS),
      ),
  });

/** The document of the application at all its addresses, and its files. */
export const dashboardRoutes = (): readonly Route[] => [
  route('GET /', {
    permission: 'public',
    onlyForBrowsers: true,
    summary: 'Redirect a browser to the web application',
    response: Type.Null(),
    handle: leadTo('/app'),
  }),
  // The page finds out from its address where it is: links in letters and terminals lead straight to a form.
  ...[
    '/app',
    '/app/setup',
    '/app/invitation',
    '/app/reset',
    ...['/app', '/app/:workspace'].flatMap((base) => [
      `${base}/test`,
      `${base}/test/*`,
      `${base}/live`,
      `${base}/live/*`,
    ]),
    '/app/:workspace',
  ].map((path) => page(path, 'Open the web application')),
  page('/inspector', 'Open the live view of the machines, without an account'),
  route('GET /app/frame', {
    permission: 'public',
    summary: 'Get an empty document for the preview of a message',
    response: Type.Unknown(),
    handle: () => FRAME,
  }),
  packedFilesRoute('/app/assets', 'Get a file of the web application', openPack),
];
