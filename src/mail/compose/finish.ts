import { isAscii } from 'node:buffer';
import { signMessage } from '../dkim/sign.ts';
import { inSevenBit } from '../raw/wire-form.ts';
import type { OutboundMessage } from '../transport/transport.ts';
import { compose } from './compose.ts';

/**
 * Composes a message and signs it with every key. `t=` is the message's own date, so that all attempts have the same octets.
 */
export const finishMessage = async (message: OutboundMessage): Promise<Buffer> => {
  const { written, dkim, date } = message;
  if (!written?.signatures) return signMessage(await compose(message), dkim, date);
  return written.signed ?? Buffer.concat([written.signatures, written.composed]);
};

/** The same for a server without 8BITMIME; null where a part that must not be changed, or the header, has octets beyond ASCII. */
export const finishInSevenBit = async (message: OutboundMessage): Promise<Buffer | null> => {
  const octets = inSevenBit(await compose(message));
  return isAscii(octets) ? signMessage(octets, message.dkim, message.date) : null;
};
