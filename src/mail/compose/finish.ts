import { isAscii } from 'node:buffer';
import type { MessageOctets } from '../dkim/canonical.ts';
import { signaturesOf, signMessage } from '../dkim/sign.ts';
import { inSevenBit } from '../raw/wire-form.ts';
import type { OutboundMessage } from '../transport/transport.ts';
import { compose } from './compose.ts';

/**
 * Composes a message and signs it with every key. `t=` is the message's own date, so that all attempts have
 * the same octets.
 */
export const finishMessage = async (message: OutboundMessage): Promise<Buffer> => {
  const pieces = await finishPieces(message);
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces);
};

/** The same as octets behind each other, which may lie in different places. */
export const finishPieces = async (message: OutboundMessage): Promise<readonly Buffer[]> => {
  const { written, dkim, date } = message;
  if (written?.signed && written.signatures) return [written.signed];
  const made: MessageOctets = written ?? { composed: await compose(message) };
  const { composed, behind } = made;
  const body = behind ? [composed, behind] : [composed];
  if (written?.signatures) return [written.signatures, ...body];
  return dkim.length === 0 ? body : [await signaturesOf(made, dkim, date), ...body];
};

/**
 * The same for a server without 8BITMIME; null where a part that must not be changed, or the header, has
 * octets beyond ASCII. Nor is a message changed that is sealed already, or that its author has signed: one
 * that is forwarded.
 */
export const finishInSevenBit = async (message: OutboundMessage): Promise<Buffer | null> => {
  if (message.written?.isForwarded) return null;
  const octets = inSevenBit(await compose(message));
  return isAscii(octets) ? signMessage(octets, message.dkim, message.date) : null;
};
