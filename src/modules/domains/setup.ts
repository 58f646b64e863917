import { isIP } from 'node:net';
import { readRelayUrl } from '../../transport/smtp/relay-url.ts';
import type { DnsSetup } from './records.ts';

/** What of the configuration the records of a domain depend on. */
export interface SetupSource {
  readonly transport: DnsSetup['ways'];
  readonly publicUrl: string;
  readonly ehloName: string | null;
  readonly smtpUrl: string | null;
  readonly returnPathDomain: string | null;
}

/** What the records of every domain point to. Without EHLO_NAME the host of PUBLIC_URL stands for this server. */
export function setupOf(source: SetupSource): DnsSetup {
  const { transport, publicUrl, ehloName, smtpUrl, returnPathDomain } = source;
  const publicHost = new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  const relay = transport.includes('smtp') && smtpUrl !== null ? readRelayUrl(smtpUrl) : null;
  return {
    ways: transport,
    mailHost: ehloName ?? publicHost,
    relayHost: relay && !isOwn(relay.host) ? relay.host : null,
    returnPathDomain,
    trackingHost: isIP(publicHost) === 0 ? publicHost : null,
  };
}

/** A relay on this very machine sends under this machine's address. */
const isOwn = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');
