import { REPLY_NAME, type RepliedEmail, readReplyToken } from '../../mail/received/reply-address.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { type Recipient, type RouteMatch, routeFor } from './matching.ts';

/** The email that an address of a reply names; null for any other address. */
export const repliedEmailOf = (
  { name, tag }: Pick<Recipient, 'name' | 'tag'>,
  signer: Signer,
): RepliedEmail | null => (name === REPLY_NAME && tag !== null ? readReplyToken(tag, signer) : null);

/** A route as far as it is known whose it is, and what it does. */
interface OwnedRoute extends RouteMatch {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly action: string;
  readonly spam: string;
}

/** The id in place of a route's where a message is kept because it answers an email. */
export const NO_ROUTE = '';

/**
 * The route that takes a recipient, of those of its domain in one workspace and environment; null when none
 * does. The address of a reply is taken without a matching route, and kept: a promise that an email has made
 * outlives its route.
 */
export function takingRoute<Route extends OwnedRoute>(
  routes: readonly Route[],
  recipient: Recipient,
  signer: Signer,
): Route | null {
  const route = routeFor(routes, recipient);
  if (route) return route;
  const [any] = routes;
  return any && repliedEmailOf(recipient, signer)?.isOf(any)
    ? { ...any, id: NO_ROUTE, action: 'keep', spam: 'mark' }
    : null;
}
