import { LruMap } from '../../../platform/async/lru-map.ts';
import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import type { Resolver } from '../../dns/resolver.ts';
import { policyId, readPolicy, type StsPolicy } from './sts-policy.ts';

/** Fetches the policy file of a domain within a deadline; null for any answer but a valid one. */
export type FetchPolicy = (domain: string) => Promise<string | null>;

interface CachedPolicy {
  readonly id: string;
  readonly policy: StsPolicy;
  readonly until: number;
}

const AT_MOST = 10_000;

/**
 * The policies of domains, each fetched once per id and kept for its max_age. A known policy outlives a DNS
 * record or file that has disappeared: an attacker who can remove those is the one it protects from (RFC 8461
 * 5.1, 10.2).
 */
export class StsPolicies {
  readonly #known = new LruMap<string, CachedPolicy>({ entries: AT_MOST });

  constructor(
    private readonly resolver: Resolver,
    private readonly fetchPolicy: FetchPolicy,
    private readonly monotonic: MonotonicClock,
  ) {}

  /** The policy in force for mail to `domain`; null when there is none. */
  async policyOf(domain: string): Promise<StsPolicy | null> {
    const known = this.#current(domain);
    const answer = await this.resolver.txt(`_mta-sts.${domain}`);
    const id = answer.status === 'found' ? policyId(answer.records) : null;
    if (id === null || id === known?.id) return known?.policy ?? null;
    const text = await this.fetchPolicy(domain);
    const policy = text === null ? null : readPolicy(text);
    if (policy === null) return known?.policy ?? null;
    this.#known.set(domain, { id, policy, until: this.monotonic() + policy.maxAgeMs });
    return policy;
  }

  #current(domain: string): CachedPolicy | undefined {
    const known = this.#known.get(domain);
    return known && known.until > this.monotonic() ? known : undefined;
  }
}
