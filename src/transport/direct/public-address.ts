import ipaddr from 'ipaddr.js';

/**
 * Whether an address belongs to the public Internet. Anyone can point the MX record of a domain at 10.0.0.1 or at this
 * machine, and mail to that domain must not become a way to talk to what stands behind the firewall.
 */
export const isPublicAddress = (address: string): boolean => ipaddr.process(address).range() === 'unicast';
