import { registrableOf } from '../../platform/text/host.ts';

/** The organization of a domain: its registrable domain, or itself where it is a public suffix. */
export const organizationOf = (domain: string): string => registrableOf(domain) ?? domain;
