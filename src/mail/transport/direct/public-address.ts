import ipaddr from 'ipaddr.js';

/**
 * True for an address of the public Internet. Anyone can point the MX record of a domain at 10.0.0.1 or at
 * this machine, and mail to that domain must not become a way to talk to hosts behind the firewall.
 */
export const isPublicAddress = (address: string): boolean => ipaddr.process(address).range() === 'unicast';
