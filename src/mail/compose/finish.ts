import { signMessage } from '../dkim/sign.ts';
import type { OutboundMessage } from '../transport/transport.ts';
import { compose } from './compose.ts';

/**
 * Composes a message and signs it with every key. `t=` is the message's own date, so that all attempts have the same octets.
 */
export const finishMessage = async (message: OutboundMessage): Promise<Buffer> => {
  const { written, dkim, date } = message;
  return written?.signatures
    ? Buffer.concat([written.signatures, written.composed])
    : signMessage(await compose(message), dkim, date);
};
