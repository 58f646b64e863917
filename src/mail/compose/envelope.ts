import { domainToASCII } from 'node:url';
import type { OutboundMessage } from '../transport/transport.ts';

/** An address for an SMTP command: the domain in ASCII, the local part unchanged; '' for the null sender. */
export const envelopeAddress = (address: string): string => {
  if (address === '') return '';
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}@${domainOf(address)}`;
};

/** The domain of an address, in lower-case ASCII; '' when DNS cannot hold it. */
export const domainOf = (address: string): string =>
  domainToASCII(address.slice(address.lastIndexOf('@') + 1));

/**
 * True when a local part in the message or its envelope is not ASCII, so that every server needs SMTPUTF8
 * (RFC 6531).
 */
export const needsSmtpUtf8 = ({ from, to, cc, replyTo, recipients, returnPath }: OutboundMessage): boolean =>
  [from, ...to, ...cc, ...replyTo]
    .map(({ address }) => address)
    .concat(recipients, returnPath)
    .some((address) => /\P{ASCII}/u.test(envelopeAddress(address)));
