import { parse } from 'tldts';

/** The organization of a domain: its registrable domain. Each customer of github.io is one, as the private part of the public suffix list has it. */
export const organizationOf = (domain: string): string =>
  parse(domain, { allowPrivateDomains: true }).domain ?? domain;
