import type { LearnedLimits } from './learned.ts';
import { type LimitClocks, SiteLimits } from './site-limits.ts';

/** The transports that meet limits of servers. */
export type LimitedTransport = 'smtp' | 'direct';

/** A server by the transport that meets it: a relay as `host:port`, or the name of a receiving server. */
export interface LimitedServer {
  readonly transport: LimitedTransport;
  readonly server: string;
}

/** What is known of a server at a time. */
export interface LimitEntry extends LimitedServer {
  readonly limits: LearnedLimits;
}

/** Servers beyond it are remembered only while they have limits. */
const MOST_SERVERS = 2_000;

/** The limits of all servers that mail is sent to. */
export class LimitBook {
  readonly #sites = new Map<string, LimitedServer & { readonly site: SiteLimits }>();
  readonly #changed = new Map<string, LimitedServer>();

  constructor(private readonly clocks: LimitClocks) {}

  /** The limits of that server. */
  of(server: LimitedServer): SiteLimits {
    const key = `${server.transport} ${server.server}`;
    const known = this.#sites.get(key);
    if (known) return known.site;
    if (this.#sites.size >= MOST_SERVERS) this.#forgetUnlimited();
    const changed = () => void this.#changed.set(key, server);
    // Every receiving server announces a size, so that there would be a row for each of them.
    const site = new SiteLimits(this.clocks, changed, server.transport === 'smtp');
    this.#sites.set(key, { ...server, site });
    return site;
  }

  /** Takes over what is stored of a server. */
  adopt({ transport, server, limits }: LimitEntry, at: number): void {
    this.of({ transport, server }).adopt(limits, at);
  }

  /** The servers that have limits. */
  get entries(): readonly LimitEntry[] {
    return [...this.#sites.values()]
      .filter(({ site }) => Object.keys(site.known).length > 0)
      .map(({ transport, server, site }) => ({ transport, server, limits: site.known }));
  }

  /** The servers whose limits have changed since the last call. */
  takeChanged(): readonly LimitEntry[] {
    const changed = [...this.#changed.values()];
    this.#changed.clear();
    return changed.map((server) => ({ ...server, limits: this.of(server).known }));
  }

  /** Their change has not been stored after all. */
  stillChanged(servers: readonly LimitedServer[]): void {
    for (const { transport, server } of servers)
      this.#changed.set(`${transport} ${server}`, { transport, server });
  }

  /** A pool keeps the object that it was given, and what it learns through it is stored all the same. */
  #forgetUnlimited(): void {
    for (const [key, { site }] of this.#sites)
      if (Object.keys(site.known).length === 0) this.#sites.delete(key);
  }
}
