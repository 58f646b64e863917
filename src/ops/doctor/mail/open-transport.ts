import type { NameServer } from '../../../mail/dns/exchange.ts';
import { createResolver } from '../../../mail/dns/resolver.ts';
import { LimitBook } from '../../../mail/transport/limits/limit-book.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import { type TransportSettings, Transports } from '../../../mail/transport/transports.ts';
import { trustedAuthorities } from '../../../platform/crypto/authorities.ts';
import { systemClock } from '../../../platform/time/clock.ts';

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
