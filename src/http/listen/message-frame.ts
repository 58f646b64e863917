import { Type } from '@sinclair/typebox';
import { withoutResourceHints } from '../../mail/message/resource-hints.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { type Call, DASHBOARD_API, type IdParam, RawResponse, type Route, route } from '../request/route.ts';

/**
 * What a message may do in the dashboard: be looked at. Without `allow-scripts` neither scripts nor `meta refresh` run, and it has an
 * origin of its own, also when its address is opened by itself; forms do not leave it, styles load nothing, and pictures of other
 * hosts, which would tell its sender that somebody looks, are not loaded. What no policy forbids is taken out (resource-hints.ts).
 */
const POLICY = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Before everything that the message says: it cannot choose quirks mode, and its links open beside the dashboard. */
const START = '<!doctype html><meta name="color-scheme" content="light"><base target="_blank">';

const asDocument = (html: string): RawResponse =>
  new RawResponse('text/html; charset=utf-8', START + withoutResourceHints(html), {
    headers: {
      'content-security-policy': POLICY,
      'cache-control': 'private, no-store',
      'cross-origin-resource-policy': 'same-origin',
      // A name that is looked up tells as much as a picture that is loaded.
      'x-dns-prefetch-control': 'off',
    },
  });

/**
 * The endpoints that show the HTML of a message in a frame of the dashboard: `/app/api/{live|test}/<list>/:id/html`. `read` finds the
 * message for the caller, as the API does.
 */
export const messageFrames = (
  list: 'emails' | 'captured',
  id: IdParam,
  read: (call: Call<{ readonly id: string }>) => Promise<{ readonly html: string | null } | Failure>,
): readonly Route[] =>
  (['live', 'test'] as const).map((environment) =>
    route({
      method: 'GET',
      path: `${DASHBOARD_API}/${environment}/${list}/:id/html`,
      permission: 'emails:read',
      credential: 'session',
      principals: ['member'],
      environment,
      summary: 'Show the HTML of a message, where it can do nothing',
      params: { id },
      response: Type.Unknown(),
      status: 200,
      handle: async (call) => {
        const found = await read(call);
        return found instanceof Failure ? found : asDocument(found.html ?? '');
      },
    }),
  );
