import type { LookupFunction } from 'node:net';
import { dns } from 'bun';
import type { NameServer } from '../../../mail/dns/exchange.ts';
import { createResolver, type Resolver } from '../../../mail/dns/resolver.ts';
import type { AddressGuard } from './address-guard.ts';
import { addressesInHostsFile } from './hosts-file.ts';

/** Resolves a host name to all its addresses; rejects when there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * The resolver of the system through c-ares. Like getaddrinfo it reads /etc/hosts and keeps `.localhost` on
 * loopback (RFC 6761), but it occupies no thread while it waits: with 64 names whose servers were silent,
 * getaddrinfo delayed every other name for over a minute, c-ares none (measured).
 */
export const resolveBySystem: Resolve = async (name) => {
  const answers = await dns.lookup(name, { backend: 'c-ares' });
  return answers.map(({ address }) => address);
};

/**
 * The names that the public DNS does not have: those without a dot, which search lists complete, and loopback
 * (RFC 6761, 6.3).
 */
const isOfTheMachine = (name: string): boolean => !name.includes('.') || /(^|\.)localhost\.?$/i.test(name);

/**
 * Resolves by the name servers of `DNS_SERVERS`. As with the resolver of the system, /etc/hosts comes first,
 * and names that only the machine knows are left to the system: the names of containers have no dot.
 */
export function resolveBy({ ipv4, ipv6 }: Pick<Resolver, 'ipv4' | 'ipv6'>): Resolve {
  return async (name) => {
    if (isOfTheMachine(name)) return resolveBySystem(name);
    const own = await addressesInHostsFile(name);
    if (own.length > 0) return own;
    const answers = await Promise.all([ipv4(name), ipv6(name)]);
    return answers.flatMap((answer) => (answer.status === 'found' ? answer.records : []));
  };
}

/** The resolver of webhook hosts: by the name servers that are configured, otherwise by the system. */
export const webhookResolver = (nameServers: readonly NameServer[] | null): Resolve =>
  nameServers === null ? resolveBySystem : resolveBy(createResolver(nameServers));

/** The reason why a connection was not attempted. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';

  constructor(readonly reason: 'unresolved_host' | 'forbidden_address') {
    super(reason);
  }
}

/**
 * Makes a `lookup` that returns the addresses of a name when all of them pass the guard, and none otherwise.
 * The connection uses exactly the addresses that were checked, so a name that answers differently the next
 * time gains nothing.
 */
export function guardedLookup(guard: AddressGuard, resolve: Resolve): LookupFunction {
  return (name, _options, callback) => {
    const refuse = (reason: TargetRefused['reason']): void => callback(new TargetRefused(reason), []);
    resolve(name).then(
      (addresses) => {
        if (addresses.length === 0) refuse('unresolved_host');
        else if (!addresses.every(guard)) refuse('forbidden_address');
        else
          callback(
            null,
            addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          );
      },
      () => refuse('unresolved_host'),
    );
  };
}
