import { MOST_HOPS } from '../../mail/raw/raw-mail.ts';
import { MOST_ADDRESSES } from '../../mail/received/address-keys.ts';
import type { ReceivedMail } from '../../mail/received/received-mail.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Recipient } from '../inbound-routes/queries.ts';
import { forwardTokenOf } from './forward.ts';

/**
 * Reasons why no door takes a message: too many servers or addresses, or an address of it has forwarded it
 * before.
 */
export type Untakable = 'loop' | 'addresses' | 'returned';

/** The reason why a message is not taken for these recipients; null where it is. */
export function untakable(
  { hops, addressKeys, forwardTokens }: Pick<ReceivedMail, 'hops' | 'addressKeys' | 'forwardTokens'>,
  recipients: readonly Pick<Recipient, 'name' | 'domain'>[],
  signer: Signer,
): Untakable | null {
  if (hops > MOST_HOPS) return 'loop';
  if (addressKeys.length > MOST_ADDRESSES) return 'addresses';
  return recipients.some((one) => forwardTokens.includes(forwardTokenOf(signer, one))) ? 'returned' : null;
}
