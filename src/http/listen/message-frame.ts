import { Type } from '@sinclair/typebox';
import { withoutResourceHints } from '../../mail/message/resource-hints.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { type Call, DASHBOARD_API, type IdParam, RawResponse, type Route, route } from '../request/route.ts';

/**
 * The policy of a message in the dashboard: it can only be displayed. Without `allow-scripts` neither scripts
 * nor `meta refresh` run, and it has a separate origin, even when its address is opened directly. Its forms
 * cannot be sent, styles load nothing, and images of other hosts, which would report the view to the sender,
 * are loaded only when the viewer asks for them. Elements that no policy covers are removed
 * (resource-hints.ts).
 */
const policyOf = (images: string): string =>
  [
    'sandbox allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src ${images}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
const POLICY = policyOf('data:');
const POLICY_WITH_PICTURES = policyOf('data: https: http:');

/**
 * Before everything that the message says: it cannot choose quirks mode, and its links open beside the
 * dashboard.
 */
const START = '<!doctype html><meta name="color-scheme" content="light"><base target="_blank">';

const asDocument = (html: string, hasPictures: boolean): RawResponse =>
  new RawResponse('text/html; charset=utf-8', START + withoutResourceHints(html), {
    headers: {
      'content-security-policy': hasPictures ? POLICY_WITH_PICTURES : POLICY,
      'cache-control': 'private, no-store',
      'cross-origin-resource-policy': 'same-origin',
      // A name that is looked up tells as much as a picture that is loaded.
      'x-dns-prefetch-control': 'off',
    },
  });

/**
 * The endpoints that show the HTML of a message in a frame of the dashboard:
 * `/app/api/{live|test}/<list>/:id/html`. `read` finds the message for the caller, as the API does.
 */
export const messageFrames = (
  list: 'emails' | 'captured' | 'received',
  id: IdParam,
  read: (call: Call<{ readonly id: string }>) => Promise<{ readonly html: string | null } | Failure>,
): readonly Route[] =>
  (['live', 'test'] as const).map((environment) =>
    route(`GET ${DASHBOARD_API}/${environment}/${list}/:id/html`, {
      permission: 'emails:read',
      credential: 'session',
      principals: ['member'],
      environment,
      summary: 'Get the HTML of a message, isolated',
      params: { id },
      query: Type.Object({ pictures: Type.Optional(Type.Boolean()) }),
      response: Type.Unknown(),
      handle: async (call) => {
        const found = await read(call);
        return found instanceof Failure ? found : asDocument(found.html ?? '', call.query.pictures === true);
      },
    }),
  );
