import { readRelayUrl } from '../../platform/config/relay-url.ts';
import type { EnabledTransports } from '../../platform/config/transport-names.ts';
import type { MonotonicClock } from '../../platform/time/monotonic.ts';
import type { Resolver } from '../dns/resolver.ts';
import { type CapturedMessage, CaptureTransport } from './capture.ts';
import { DirectTransport } from './direct/direct.ts';
import { mxGroupLimits } from './direct/mx-group.ts';
import type { LimitBook } from './limits/limit-book.ts';
import { type Part, WHOLE } from './part.ts';
import { SesTransport } from './ses/ses.ts';
import { SILENCE_MS } from './smtp/endpoint.ts';
import { FailoverTransport } from './smtp/failover.ts';
import { RelayTransport } from './smtp/relay.ts';
import type { Transport } from './transport.ts';

/** The settings of the transports, as `Config` names them. */
export interface TransportSettings {
  /** The enabled transports, the default one first. */
  readonly transport: EnabledTransports;
  readonly smtpUrl: string | null;
  /** The relay that takes over while the first one is down. */
  readonly smtpFallbackUrl: string | null;
  readonly directPort: number;
  /** Sessions of all processes to one receiving site at once. */
  readonly directConnectionsPerSite: number;
  /** Messages of all processes to one receiving site. */
  readonly directMessagesPerMinute: number;
  readonly ehloName: string | null;
  readonly sesRegion: string | null;
  readonly sesEndpoint: string | null;
  readonly sesConfigurationSet: string | null;
  readonly sesTopicArn: string | null;
  readonly awsAccessKeyId: string | null;
  readonly awsSecretAccessKey: string | null;
}

/** Everything that the transports need besides their settings. */
export interface TransportMeans {
  readonly resolver: Resolver;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonic: MonotonicClock;
  readonly random: () => number;
  /** The name of this machine, used without EHLO_NAME. */
  readonly hostName: string;
  /** The authorities to trust, in PEM; null for the runtime's own. */
  readonly ca: string | null;
  /** The limits that servers have shown. */
  readonly book: LimitBook;
  /** Keeps captured mail. */
  readonly keep: (captured: CapturedMessage) => Promise<void>;
  /** Decides which addresses direct delivery may connect to; undefined for public ones only. */
  readonly mayConnect?: (address: string) => boolean;
  /** The domain whose mail server `verify` of the direct transport connects to; null for none. */
  readonly probeDomain?: string | null;
}

/** Settings are missing or contradictory; the message says which. */
export class UnusableSettings extends Error {
  override readonly name = 'UnusableSettings';
}

/** The limit for each of connecting to a relay, its greeting and the TLS handshake. */
const RELAY_CONNECT_MS = 30_000;

/** The configured transports, each opened on first use. */
export class Transports {
  readonly #open = new Map<Transport['name'], Transport>();
  #part = WHOLE;

  constructor(
    private readonly settings: TransportSettings,
    private readonly means: TransportMeans,
  ) {}

  /** The default transport. */
  get chosen(): Transport {
    return this.named(this.settings.transport[0]);
  }

  /** All enabled transports, the default one first. @throws UnusableSettings */
  get enabled(): readonly Transport[] {
    return this.settings.transport.map((name) => this.named(name));
  }

  /** One transport by its name. @throws UnusableSettings when its settings are missing or wrong */
  named(name: Transport['name']): Transport {
    const known = this.#open.get(name);
    if (known) return known;
    const opened = this.#create[name]();
    opened.keepTo?.(this.#part);
    this.#open.set(name, opened);
    return opened;
  }

  /** Keeps to this part of what receiving sites are given: other processes have the rest. */
  keepTo(part: Part): void {
    this.#part = part;
    for (const transport of this.#open.values()) transport.keepTo?.(part);
  }

  /** Lets attempts in progress finish, and ends every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()));
  }

  /** Opens each transport: a name without an entry does not compile. */
  readonly #create: Readonly<Record<Transport['name'], () => Transport>> = {
    capture: () => new CaptureTransport(this.means.keep),
    smtp: () => this.#relays(),
    direct: () => this.#direct(),
    ses: () => this.#ses(),
  };

  get #ehloName(): string {
    return this.settings.ehloName ?? introduction(this.means.hostName);
  }

  #relays(): Transport {
    const { smtpUrl, smtpFallbackUrl } = this.settings;
    const first = this.#relay('SMTP_URL', smtpUrl);
    if (smtpFallbackUrl === null) return first.transport;
    return new FailoverTransport(
      [first, this.#relay('SMTP_FALLBACK_URL', smtpFallbackUrl)],
      this.means.monotonic,
    );
  }

  #relay(
    setting: string,
    text: string | null,
  ): { readonly name: string; readonly transport: RelayTransport } {
    const relay = text === null ? null : readRelayUrl(text);
    if (relay === null) throw new UnusableSettings(`${setting} must be smtp[s]://user:password@host:port.`);
    const { book, ca, monotonic } = this.means;
    const { host, port } = relay;
    const server = `${host}:${port}`;
    const endpoint = {
      ...relay,
      name: host,
      verifyCertificate: true,
      connectMs: RELAY_CONNECT_MS,
      silenceMs: SILENCE_MS,
      ehloName: this.#ehloName,
      ca,
      setting,
    };
    const parts = { site: book.of({ transport: 'smtp', server }), monotonic };
    return { name: server, transport: new RelayTransport(endpoint, parts) };
  }

  #ses(): Transport {
    const { sesRegion: region, awsAccessKeyId, awsSecretAccessKey } = this.settings;
    if (region === null || awsAccessKeyId === null || awsSecretAccessKey === null)
      throw new UnusableSettings('SES_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set.');
    return new SesTransport({
      region,
      endpoint: this.settings.sesEndpoint,
      accessKeyId: awsAccessKeyId,
      secretAccessKey: awsSecretAccessKey,
      configurationSet: this.settings.sesConfigurationSet,
      topicArn: this.settings.sesTopicArn,
      now: this.means.now,
    });
  }

  #direct(): Transport {
    const { settings } = this;
    const { resolver, monotonic, random, ca, mayConnect, probeDomain = null } = this.means;
    return new DirectTransport({
      resolver,
      monotonic,
      random,
      ehloName: this.#ehloName,
      port: settings.directPort,
      limits: mxGroupLimits(settings.directConnectionsPerSite, settings.directMessagesPerMinute),
      ca,
      probeDomain,
      book: this.means.book,
      ...(mayConnect && { mayConnect }),
    });
  }
}

// RFC 5321 4.1.1.1 wants a whole domain name or an address; a bare `debian` is refused by strict servers.
const introduction = (hostName: string): string => (hostName.includes('.') ? hostName : '[127.0.0.1]');
