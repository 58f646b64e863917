/** Straight to the recipients' own servers. */
import { orAborted, withDeadline } from '../../async/deadline.ts';
import { TtlCache } from '../../async/ttl-cache.ts';
import { begin } from '../begin.ts';
import type { Resolver } from '../dns/resolver.ts';
import { domainOf } from '../message/envelope.ts';
import type { Monotonic } from '../monotonic.ts';
import { withoutReply } from '../smtp/outcome.ts';
import { type Mail, mailOf } from '../smtp/transmit.ts';
import type {
  Finding,
  OutboundMessage,
  RecipientOutcome,
  SendLimits,
  SubType,
  Transport,
} from '../transport.ts';
import { deliver, type Reach } from './deliver.ts';
import { createFetchPolicy } from './fetch-policy.ts';
import { inspect } from './inspect.ts';
import { MxGroup, type MxGroupLimits } from './mx-group.ts';
import { isPublicAddress } from './public-address.ts';
import { type Route, routeOf } from './route.ts';
import { StsPolicies } from './sts-policies.ts';
import { allowsHost, type StsPolicy } from './sts-policy.ts';

/** What delivering directly needs to know. */
export interface DirectOptions {
  readonly resolver: Resolver;
  readonly monotonic: Monotonic;
  /** 0 to 1, for the order among hosts of equal preference. */
  readonly random: () => number;
  /** How this service introduces itself: a name whose address leads back to it. */
  readonly ehloName: string;
  readonly port?: number;
  /** PEM certificates to trust instead of the system's, for MTA-STS; null for the system's. */
  readonly ca?: string | null;
  readonly limits?: MxGroupLimits;
  /** Which addresses may be connected to: only public ones, unless told otherwise. */
  readonly mayConnect?: (address: string) => boolean;
  readonly connectMs?: number;
  /** A domain whose mail server `verify` connects to, to see whether mail can leave at all. */
  readonly probeDomain?: string | null;
  /** Where MTA-STS policies are fetched. */
  readonly policyPort?: number;
}

/** Polite to a receiver that has never heard of us, enough for 150,000 messages an hour to each. */
const LIMITS: MxGroupLimits = { sessions: 10, messagesPerSession: 100, messagesPerSecond: 50, idleMs: 5_000 };
/** Routes and policies are asked for once in so long; a domain that moves its mail is followed within it. */
const FRESH_MS = 30_000;
const SITES = 1_000;

/** All mail to the servers that the recipients' domains name. */
export class DirectTransport implements Transport {
  readonly name = 'direct';
  readonly confirmsDelivery = true;
  readonly #routes: TtlCache<Route>;
  readonly #policies: TtlCache<StsPolicy | null>;
  readonly #published: StsPolicies;
  readonly #sites = new Map<string, MxGroup>();
  readonly #reach: Reach;

  constructor(private readonly options: DirectOptions) {
    const {
      resolver,
      monotonic,
      ehloName,
      port = 25,
      ca = null,
      connectMs = 30_000,
      policyPort = 443,
    } = options;
    const mayConnect = options.mayConnect ?? isPublicAddress;
    const fetchPolicy = createFetchPolicy({ resolver, mayConnect, ca, port: policyPort });
    this.#reach = { resolver, mayConnect, port, ca, ehloName, connectMs };
    this.#published = new StsPolicies(resolver, fetchPolicy, monotonic);
    this.#routes = new TtlCache({
      forMs: ({ status }) => (status === 'found' ? FRESH_MS : 0),
      atMost: 10_000,
      monotonic,
    });
    this.#policies = new TtlCache({ forMs: () => FRESH_MS, atMost: 10_000, monotonic });
  }

  async send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]> {
    const mail = await mailOf(message);
    const byDomain = Map.groupBy(message.recipients, domainOf);
    const outcomes = await withDeadline(limits, (signal) =>
      Promise.all(
        [...byDomain].map(([domain, recipients]) =>
          this.#toDomain(domain, { ...mail, recipients }, signal, () => begin(limits)),
        ),
      ),
    );
    const byRecipient = new Map(outcomes.flat().map((outcome) => [outcome.recipient, outcome]));
    return message.recipients.map(
      (recipient) =>
        byRecipient.get(recipient) ?? withoutReply(recipient, 'deferred', 'Not tried', 'General'),
    );
  }

  verify(): Promise<readonly Finding[]> {
    return inspect(this.#reach, this.options.probeDomain ?? null);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sites.values()].map((site) => site.close()));
  }

  async #toDomain(
    domain: string,
    mail: Mail,
    signal: AbortSignal,
    begun: () => Promise<void>,
  ): Promise<readonly RecipientOutcome[]> {
    const all = (outcome: (recipient: string) => RecipientOutcome) => mail.recipients.map(outcome);
    const deferred = (reason: string, subType: SubType, enhancedCode: string) =>
      all((one) => withoutReply(one, 'deferred', reason, subType, null, { enhancedCode }));
    try {
      const { route, policy } = await orAborted(this.#wayTo(domain), signal, () => new Late());
      if (route.status === 'deferred') return deferred(route.reason, 'ConnectionFailed', '4.4.3');
      if (route.status === 'refused') {
        const own = { fault: 'recipient', enhancedCode: route.enhancedCode } as const;
        return all((one) => withoutReply(one, 'refused', route.reason, 'DomainNotFound', null, own));
      }
      const hosts = route.hosts.filter((host) => allowsHost(policy, host));
      if (hosts.length === 0)
        return deferred(
          `The MTA-STS policy of ${domain} names none of its mail servers`,
          'TlsFailed',
          '4.7.5',
        );
      const site = this.#siteOf(route.hosts);
      const plan = { hosts, site, mail, enforced: policy?.mode === 'enforce' };
      const attempt = async () => {
        if (!(await site.pace.turn(signal))) throw new Late();
        await begun();
        if (signal.aborted) throw new Late();
        return deliver(plan, this.#reach, signal);
      };
      return await site.gate.pass(attempt, signal, () => new Late());
    } catch (error) {
      if (!(error instanceof Late)) throw error;
      return deferred(`Mail to ${domain} had to wait too long here`, 'RateLimited', '4.4.5');
    }
  }

  async #wayTo(domain: string): Promise<{ readonly route: Route; readonly policy: StsPolicy | null }> {
    const { resolver, random } = this.options;
    const [route, policy] = await Promise.all([
      this.#routes.get(domain, () => routeOf(domain, resolver, random)),
      this.#policies.get(domain, () => this.#published.policyOf(domain)),
    ]);
    return { route, policy };
  }

  #siteOf(hosts: readonly string[]): MxGroup {
    const name = [...hosts].sort().join(' ');
    const known = this.#sites.get(name);
    if (known) return known;
    if (this.#sites.size >= SITES)
      for (const [other, site] of this.#sites) if (site.idle) this.#sites.delete(other);
    const site = new MxGroup(this.options.limits ?? LIMITS, this.options.monotonic);
    this.#sites.set(name, site);
    return site;
  }
}

/** The deadline came before a connection was to be opened. */
class Late extends Error {}
