import { signMessage } from '../dkim/sign.ts';
import type { OutboundMessage } from '../transport.ts';
import { compose } from './compose.ts';

/**
 * The octets that leave: composed, and signed by every key of the message. `t=` is the message's own date, so that all
 * attempts are alike.
 */
export const finishMessage = async (message: OutboundMessage): Promise<Buffer> =>
  signMessage(await compose(message), message.dkim, message.date);
