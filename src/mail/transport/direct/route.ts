import type { Answer } from '../../dns/exchange.ts';
import type { MailExchange, Resolver } from '../../dns/resolver.ts';

/** The mail servers of a domain (RFC 5321 5.1), or the reason why there are none. */
export type Route =
  /** Host names in the order in which to try them. */
  | { readonly status: 'found'; readonly hosts: readonly string[] }
  /** The domain takes no mail (RFC 7505), or does not exist. */
  | { readonly status: 'refused'; readonly enhancedCode: '5.1.2' | '5.1.10'; readonly reason: string }
  /** The lookup failed. */
  | { readonly status: 'deferred'; readonly reason: string };

/** Looks the route up. Hosts of equal preference are ordered by `random` (0 to 1), which spreads the load. */
export const routeOf = async (domain: string, resolver: Resolver, random: () => number): Promise<Route> => {
  const answer = await resolver.mx(domain);
  if (answer.status === 'failed') return deferred(domain, answer.reason);
  if (answer.status === 'nxdomain') return noSuchDomain(domain);
  if (answer.status === 'nodata') return withoutMx(domain, resolver);
  const hosts = inOrder(answer.records, random).filter((host) => host !== '');
  if (hosts.length > 0) return { status: 'found', hosts };
  const reason = `${domain} says that it takes no mail (null MX)`;
  return { status: 'refused', enhancedCode: '5.1.10', reason };
};

// RFC 5321 5.1: without MX records the domain's own address takes its mail, IPv6 or IPv4.
const withoutMx = async (domain: string, resolver: Resolver): Promise<Route> => {
  const answers = await Promise.all([resolver.ipv6(domain), resolver.ipv4(domain)]);
  if (answers.some(({ status }) => status === 'found')) return { status: 'found', hosts: [domain] };
  const failed = answers.find(
    (answer): answer is Extract<Answer<string>, { status: 'failed' }> => answer.status === 'failed',
  );
  return failed ? deferred(domain, failed.reason) : noSuchDomain(domain);
};

const deferred = (domain: string, reason: string): Route => ({
  status: 'deferred',
  reason: `Looking up the mail servers of ${domain} failed: ${reason}`,
});

const noSuchDomain = (domain: string): Route => ({
  status: 'refused',
  enhancedCode: '5.1.2',
  reason: `${domain} does not exist, or has no mail server and no address`,
});

const inOrder = (records: readonly MailExchange[], random: () => number): string[] =>
  records
    .map(({ host, preference }) => ({ host, preference, rank: random() }))
    .sort((a, b) => a.preference - b.preference || a.rank - b.rank)
    .map(({ host }) => host.replace(/\.$/, ''));
