import { domainToASCII } from 'node:url';
import type { OutboundMessage } from '../transport.ts';

/** An address as an SMTP command may hold it: the domain in ASCII, the local part as it is. */
export const envelopeAddress = (address: string): string => {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}@${domainOf(address)}`;
};

/** The domain of an address, in lower-case ASCII; '' when it is none that DNS could hold. */
export const domainOf = (address: string): string =>
  domainToASCII(address.slice(address.lastIndexOf('@') + 1));

/**
 * Whether the message can only travel where SMTPUTF8 is spoken (RFC 6531): a local part beyond ASCII stands in it or on
 * its envelope.
 */
export const needsSmtpUtf8 = ({ from, to, cc, replyTo, recipients, returnPath }: OutboundMessage): boolean =>
  [from, ...to, ...cc, ...replyTo]
    .map(({ address }) => address)
    .concat(recipients, returnPath)
    .some((address) => /\P{ASCII}/u.test(envelopeAddress(address)));
