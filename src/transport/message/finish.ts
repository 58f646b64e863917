import { signMessage } from '../dkim/sign.ts';
import type { OutboundMessage } from '../transport.ts';
import { compose } from './compose.ts';

/**
 * Composes a message and signs it with every key. `t=` is the message's own date, so that all attempts have the same octets.
 */
export const finishMessage = async (message: OutboundMessage): Promise<Buffer> =>
  signMessage(await compose(message), message.dkim, message.date);
