import { AUTO, replyAddress } from '../../../mail/received/reply-address.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import { type Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';

/** The workspace, environment and domain of a sender. */
export interface ReplySender {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly domain: string;
}

/** Takes the place of a reply address until the email has an id, from which the address is made. */
export const AUTO_REPLY: Address = { name: null, address: AUTO, key: AUTO, domain: '', utf8Local: false };

/** Reads a reply address as `parseAddress` does, or the word `auto`. */
export const parseReplyTo = (text: string): ReturnType<typeof parseAddress> =>
  text === AUTO ? AUTO_REPLY : parseAddress(text);

/** The stored reply addresses of a campaign, read again. */
export const storedReplyTo = (texts: readonly string[]): readonly Address[] =>
  texts.flatMap((text) => {
    const read = parseReplyTo(text);
    return isProblem(read) ? [] : [read];
  });

const isAuto = (address: Address): boolean => address === AUTO_REPLY;

/** True where one of the reply addresses is to be made. */
const asksForReplies = (replyTo: readonly Address[]): boolean => replyTo.some(isAuto);

/** The refusal of a sender whose workspace receives no mail in that environment. */
const noReplyDomain = (path: string, livemode: boolean): Failure =>
  invalidAt(
    path,
    `Must be an address: "${AUTO}" needs a verified domain with an inbound route of the ${livemode ? 'live' : 'test'} environment. Add one with POST /v1/inbound-routes.`,
  );

/**
 * The domain of the reply addresses that a request asks for; null where it asks for none, a refusal where
 * none receives.
 */
export async function replyDomainOf(
  find: (sender: ReplySender) => Promise<string | null>,
  replyTo: readonly Address[],
  sender: ReplySender,
  path: string,
): Promise<string | null | Failure> {
  if (!asksForReplies(replyTo)) return null;
  return (await find(sender)) ?? noReplyDomain(path, sender.livemode);
}

/**
 * The reply addresses of an email, in which its own takes the place of `auto`; without a domain it is left
 * out.
 */
export function repliesTo(
  replyTo: readonly Address[],
  domain: string | null,
  id: string,
  owner: Pick<ReplySender, 'workspaceId' | 'livemode'>,
  signer: Signer,
): readonly Address[] {
  if (!asksForReplies(replyTo)) return replyTo;
  if (domain === null) return replyTo.filter((one) => !isAuto(one));
  const address = replyAddress(id, owner, domain, signer);
  return replyTo.map((one) => (isAuto(one) ? { ...one, address, key: address, domain } : one));
}
