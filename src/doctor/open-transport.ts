import { systemClock } from '../time/clock.ts';
import { trustedAuthorities } from '../transport/authorities.ts';
import type { NameServer } from '../transport/dns/exchange.ts';
import { createResolver } from '../transport/dns/resolver.ts';
import { LimitBook } from '../transport/limits/limit-book.ts';
import type { Transport } from '../transport/transport.ts';
import { type TransportSettings, Transports } from '../transport/transports.ts';

/** The surroundings that transports are opened in. */
export interface WayMeans {
  readonly nameServers: readonly NameServer[];
  readonly hostName: string;
  readonly probeDomain: string;
  /** Admits addresses to connect to; public ones alone by default. */
  readonly mayConnect?: (address: string) => boolean;
}

/** Opens every enabled transport as the service does, the default one first. @throws UnusableSettings */
export async function openTransports(
  config: TransportSettings & { readonly tlsCaFile: string | null },
  { nameServers, ...means }: WayMeans,
): Promise<readonly Transport[]> {
  const ca = await trustedAuthorities(config.tlsCaFile);
  const transports = new Transports(config, {
    resolver: createResolver(nameServers),
    now: systemClock.now,
    monotonic: systemClock.monotonic,
    random: Math.random,
    ca,
    keep: async () => {},
    book: new LimitBook(systemClock),
    ...means,
  });
  return transports.enabled;
}
