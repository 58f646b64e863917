import type { LearnedLimits, LimitRecord } from './learned.ts';
import { type LimitClocks, SiteLimits } from './site-limits.ts';

/** The transports that meet limits of servers. */
export type LimitedTransport = 'smtp' | 'direct';

/** A server by the transport that meets it: a relay as `host:port`, or the name of a receiving server. */
export interface LimitedServer {
  readonly transport: LimitedTransport;
  readonly server: string;
}

/** The limits of a server that hold. */
export interface LimitEntry extends LimitedServer {
  readonly limits: LearnedLimits;
}

/** All that was found out of a server. */
export interface FoundEntry extends LimitedServer {
  readonly limits: LimitRecord;
}

interface Site extends LimitedServer {
  readonly site: SiteLimits;
}

/** Servers beyond it are remembered only while they have limits. */
const MOST_SERVERS = 2_000;

/** The limits of all servers that mail is sent to. */
export class LimitBook {
  readonly #sites = new Map<string, Site>();
  readonly #changed = new Map<string, Site>();
  #listener: (() => void) | null = null;

  constructor(private readonly clocks: LimitClocks) {}

  of(server: LimitedServer): SiteLimits {
    const key = keyOf(server);
    const known = this.#sites.get(key);
    if (known) return known.site;
    if (this.#sites.size >= MOST_SERVERS) this.#forgetUnlimited();
    const changed = () => this.#hasChanged(key, entry);
    // Every receiving server announces a size, so that there would be a row for each of them.
    const entry = { ...server, site: new SiteLimits(this.clocks, changed, server.transport === 'smtp') };
    this.#sites.set(key, entry);
    return entry.site;
  }

  /** Calls the listener whenever something was found that `takeChanged` will return. */
  heed(listener: () => void): void {
    this.#listener = listener;
    if (this.#changed.size > 0) listener();
  }

  /** Takes over what is stored of a server. */
  adopt({ transport, server, limits }: FoundEntry): void {
    this.of({ transport, server }).adopt(limits);
  }

  /** The servers that have limits. */
  get entries(): readonly LimitEntry[] {
    return [...this.#sites.values()]
      .filter(({ site }) => Object.keys(site.known).length > 0)
      .map(({ transport, server, site }) => ({ transport, server, limits: site.known }));
  }

  /**
   * The findings since the last call; null for none. The caller calls `failed` when it could not store them.
   */
  takeChanged(): { readonly entries: readonly FoundEntry[]; failed(): void } | null {
    const changed = [...this.#changed];
    this.#changed.clear();
    if (changed.length === 0) return null;
    return {
      entries: changed.map(([, { transport, server, site }]) => ({ transport, server, limits: site.record })),
      failed: () => {
        for (const [key, entry] of changed) this.#hasChanged(key, entry);
      },
    };
  }

  /**
   * A pool keeps the object that it was given, also once it was forgotten here: it comes back with what is
   * learned through it.
   */
  #hasChanged(key: string, entry: Site): void {
    const current = this.#sites.get(key) ?? entry;
    if (current !== entry) current.site.adopt(entry.site.record);
    this.#sites.set(key, current);
    this.#changed.set(key, current);
    this.#listener?.();
  }

  #forgetUnlimited(): void {
    for (const [key, { site }] of this.#sites)
      if (Object.keys(site.known).length === 0 && !this.#changed.has(key)) this.#sites.delete(key);
  }
}

const keyOf = ({ transport, server }: LimitedServer): string => `${transport} ${server}`;
