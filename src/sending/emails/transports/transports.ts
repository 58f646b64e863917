import type { NameServer } from '../../../mail/dns/exchange.ts';
import { createResolver, systemNameServers } from '../../../mail/dns/resolver.ts';
import type { CapturedMessage } from '../../../mail/transport/capture.ts';
import { LimitBook } from '../../../mail/transport/limits/limit-book.ts';
import type { Part } from '../../../mail/transport/part.ts';
import { FailoverTransport } from '../../../mail/transport/smtp/failover.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import { type TransportSettings, Transports } from '../../../mail/transport/transports.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** The services and settings that transports are opened with. */
export interface TransportSetParts {
  readonly config: TransportSettings & {
    readonly dnsServers: readonly NameServer[] | null;
  };
  readonly clock: Clock;
  readonly hostName: string;
  /** The authorities to trust, in PEM; null for the runtime's own. */
  readonly ca: string | null;
  keep(captured: CapturedMessage): Promise<void>;
}

/** The transports that mail leaves by. */
export interface TransportSet {
  /** The transport of that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  /** The relays that mail leaves by where there are several, with the state of each. */
  relayStates(): FailoverTransport['states'];
  /** The limits that servers have shown. */
  readonly book: LimitBook;
  /** Keeps to this part of what receiving sites are given: other instances have the rest. */
  keepTo(part: Part): void;
  close(): Promise<void>;
}

/** Opens every transport that is enabled. @throws UnusableSettings when one cannot be opened */
export function openTransports({ config, clock, ...parts }: TransportSetParts): TransportSet {
  const resolver = createResolver(config.dnsServers ?? systemNameServers());
  const { now, monotonic } = clock;
  const book = new LimitBook(clock);
  const transports = new Transports(config, {
    ...parts,
    now,
    monotonic,
    resolver,
    book,
    random: Math.random,
  });
  const [byDefault] = transports.enabled as readonly [Transport, ...Transport[]];
  return {
    book,
    transport: (name) => (name === null ? byDefault : transports.named(name)),
    relayStates: () =>
      transports.enabled.flatMap((one) => (one instanceof FailoverTransport ? one.states : [])),
    keepTo: (part) => transports.keepTo(part),
    close: () => transports.close(),
  };
}
