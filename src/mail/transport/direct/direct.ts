import { orAborted, withDeadline } from '../../../platform/async/deadline.ts';
import { TtlCache } from '../../../platform/async/ttl-cache.ts';
import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import { domainOf } from '../../compose/envelope.ts';
import type { Resolver } from '../../dns/resolver.ts';
import { beginOnce } from '../begin.ts';
import { LimitBook } from '../limits/limit-book.ts';
import { connectionsOf, messagesOf, type Part, WHOLE } from '../part.ts';
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

/** The options of direct delivery. */
export interface DirectOptions {
  readonly resolver: Resolver;
  readonly monotonic: MonotonicClock;
  /** A random number from 0 to 1, for the order of hosts with equal preference. */
  readonly random: () => number;
  /** The name in EHLO, whose address should have this name in reverse DNS. */
  readonly ehloName: string;
  readonly port?: number;
  /** PEM certificates to trust instead of the system's, for MTA-STS; null for the system's. */
  readonly ca?: string | null;
  readonly limits: MxGroupLimits;
  /** The limits that receiving servers have shown; forgotten with the transport when absent. */
  readonly book?: LimitBook;
  /** Decides which addresses may be connected to; by default only public ones. */
  readonly mayConnect?: (address: string) => boolean;
  readonly connectMs?: number;
  /** The domain whose mail server `verify` connects to, to see that mail can leave at all. */
  readonly probeDomain?: string | null;
  /** The port from which MTA-STS policies are fetched. */
  readonly policyPort?: number;
}

/** Cache lifetime of routes and policies; a domain that moves its mail is followed within it. */
const FRESH_MS = 30_000;
const MX_GROUPS = 1_000;

/** Delivers to the mail servers of the recipients' domains. */
export class DirectTransport implements Transport {
  readonly name = 'direct';
  readonly confirmsDelivery = true;
  readonly #routes: TtlCache<Route>;
  readonly #policies: TtlCache<StsPolicy | null>;
  readonly #published: StsPolicies;
  readonly #groups = new Map<string, MxGroup>();
  readonly #reach: Reach;
  readonly #book: LimitBook;
  #part = WHOLE;

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
    this.#book = options.book ?? new LimitBook({ now: monotonic, monotonic });
    const mayConnect = options.mayConnect ?? isPublicAddress;
    const fetchPolicy = createFetchPolicy({ resolver, mayConnect, ca, port: policyPort });
    this.#reach = { resolver, mayConnect, port, ca, ehloName, connectMs };
    this.#published = new StsPolicies(resolver, fetchPolicy, monotonic);
    this.#routes = new TtlCache({
      forMs: ({ status }) => (status === 'found' ? FRESH_MS : 0),
      sharedMs: FRESH_MS,
      atMost: 10_000,
      monotonic,
    });
    this.#policies = new TtlCache({
      forMs: () => FRESH_MS,
      sharedMs: FRESH_MS,
      atMost: 10_000,
      monotonic,
    });
  }

  async send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]> {
    const byDomain = Map.groupBy(message.recipients, domainOf);
    const outcomes = await withDeadline(limits, async (signal) => {
      const mail = await mailOf(message);
      return Promise.all(
        [...byDomain].map(([domain, recipients]) =>
          this.#toDomain(domain, { ...mail, recipients }, signal, limits),
        ),
      );
    });
    const byRecipient = new Map(outcomes.flat().map((outcome) => [outcome.recipient, outcome]));
    return message.recipients.map(
      (recipient) =>
        byRecipient.get(recipient) ?? withoutReply(recipient, 'deferred', 'Not tried', 'General'),
    );
  }

  /** Keeps to this part of what a receiving site is given: other processes have the rest. */
  keepTo(part: Part): void {
    this.#part = part;
    for (const group of this.#groups.values()) group.keepTo(part);
  }

  verify(): Promise<readonly Finding[]> {
    return inspect(this.#reach, this.options.probeDomain ?? null);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => group.close()));
  }

  async #toDomain(
    domain: string,
    mail: Mail,
    signal: AbortSignal,
    limits: SendLimits,
  ): Promise<readonly RecipientOutcome[]> {
    const all = (outcome: (recipient: string) => RecipientOutcome) => mail.recipients.map(outcome);
    const deferred = (reason: string, subType: SubType, enhancedCode: string) =>
      all((one) => withoutReply(one, 'deferred', reason, subType, null, { enhancedCode }));
    try {
      const { route, policy } = await orAborted(this.#routeTo(domain), signal, () => new DeadlineError());
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
      const group = this.#groupOf(route.hosts);
      const plan = { hosts, group, mail, enforced: policy?.mode === 'enforce' };
      const attempt = async () => {
        if (!(await group.rate.next(signal))) throw new TurnMissed();
        if (signal.aborted) throw new DeadlineError();
        return deliver(plan, this.#reach, signal, beginOnce(limits));
      };
      return await group.sessions.run(attempt, mail.isBulk, signal, () => new TurnMissed());
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      const reason =
        error instanceof TurnMissed
          ? `Mail to ${domain} waited here for its turn at its mail servers until the attempt was over: ${this.#limitsInWords()}`
          : `Mail to ${domain} had to wait too long here`;
      return deferred(reason, 'RateLimited', '4.4.5');
    }
  }

  async #routeTo(domain: string): Promise<{ readonly route: Route; readonly policy: StsPolicy | null }> {
    const { resolver, random } = this.options;
    const [route, policy] = await Promise.all([
      this.#routes.get(domain, () => routeOf(domain, resolver, random)),
      this.#policies.get(domain, () => this.#published.policyOf(domain)),
    ]);
    return { route, policy };
  }

  #limitsInWords(): string {
    const { sessions, messagesPerMinute } = this.options.limits;
    const all = `${sessions} connections at once (DIRECT_CONNECTIONS_PER_SITE), ${messagesPerMinute} messages a minute (DIRECT_MESSAGES_PER_MINUTE)`;
    if (this.#part.of === 1) return all;
    const own = connectionsOf(sessions, this.#part);
    return `${all}, of which this instance, one of ${this.#part.of} that deliver, has ${own} and ${Math.floor(messagesOf(messagesPerMinute, this.#part))}`;
  }

  #groupOf(hosts: readonly string[]): MxGroup {
    const name = [...hosts].sort().join(' ');
    const known = this.#groups.get(name);
    if (known) return known;
    if (this.#groups.size >= MX_GROUPS)
      for (const [other, group] of this.#groups) if (group.idle) this.#groups.delete(other);
    const group = new MxGroup(this.options.limits, this.options.monotonic, this.#part, this.#book);
    this.#groups.set(name, group);
    return group;
  }
}

/** The deadline passed before a connection could be opened. */
class DeadlineError extends Error {}

/** The deadline passed before the limits of the receiving site left a turn. */
class TurnMissed extends DeadlineError {}
