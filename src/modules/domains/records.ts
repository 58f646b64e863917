import { isIP } from 'node:net';
import type { RecordStanding } from '../../../machines/domain.ts';
import type { ExpectedRecord } from '../../transport/dns/txt-rules.ts';
import type { EnabledWays, Transport } from '../../transport/transport.ts';
import { registrableOf } from './name.ts';

/** How this installation sends and receives: what the records of every domain point to. */
export interface DnsSetup {
  /** The ways that mail may leave by, the default one first. */
  readonly ways: EnabledWays;
  /** The name of this server among mail servers: sends, and takes bounces. */
  readonly mailHost: string;
  /** The server that mail is handed to with `smtp`; null where it is this one. */
  readonly relayHost: string | null;
  /** A domain of the operator's own that bounces of all domains come back to. */
  readonly returnPathDomain: string | null;
  /** Where opens and clicks are counted; null where that is no name that an alias could lead to. */
  readonly trackingHost: string | null;
}

/** What of a domain its records are made of. */
export interface RecordSource {
  readonly name: string;
  readonly dkimSelector: string;
  readonly rsaValue: string;
  readonly ed25519Value: string;
  /** The host of envelope senders, `send.example.com`. */
  readonly returnPath: string;
  readonly trackingDomain: string | null;
  /** The way that was chosen for its mail; null for the default one. */
  readonly provider: Transport['name'] | null;
}

/** The way that its mail leaves by, whether that way is enabled or not. */
export const wayOf = ({ provider }: Pick<RecordSource, 'provider'>, { ways }: DnsSetup): Transport['name'] =>
  provider ?? ways[0];

/** Which of a domain's records. */
export type Slot = 'dkim' | 'dkimEd25519' | 'spf' | 'returnPath' | 'mx' | 'dmarc' | 'tracking';

/** A record that the owner of a domain is asked to set. */
export interface AskedRecord extends ExpectedRecord {
  readonly slot: Slot;
  /** Seconds. */
  readonly ttl: number;
  /** Without it nothing is sent; any other only makes things better. */
  readonly required: boolean;
  readonly fingerprint: string;
}

const TTL_SECONDS = 3_600;

/** The selector of the Ed25519 key; two keys cannot share one name (RFC 6376 3.6.2.2). */
export const ed25519SelectorOf = (selector: string): string => `${selector}-ed`;

/**
 * The records of a domain, in the order in which they are best set.
 * - Both DKIM keys. Only the RSA key is required: not everybody verifies Ed25519, and it signs only once its record is seen.
 * - The return path: with RETURN_PATH_DOMAIN one alias, which brings that domain's MX and SPF along; otherwise MX and SPF
 *   of its own. Behind a relay we cannot know who sends in the end, so they are advice.
 * - SES signs by itself, with the RSA key alone, and has a return path of its own.
 * - DMARC at the registrable domain, whose policy holds for all below it (RFC 7489 6.6.3).
 */
export function recordsOf(domain: RecordSource, setup: DnsSetup): readonly AskedRecord[] {
  const { name, dkimSelector, rsaValue, ed25519Value, trackingDomain } = domain;
  const keyName = (selector: string): string => `${selector}._domainkey.${name}`;
  const ed25519 = record('dkimEd25519', 'TXT', keyName(ed25519SelectorOf(dkimSelector)), ed25519Value, false);
  const records = [
    record('dkim', 'TXT', keyName(dkimSelector), rsaValue, true),
    ...(wayOf(domain, setup) === 'ses' ? [] : [ed25519, ...returnPathRecords(domain, setup)]),
    record('dmarc', 'TXT', `_dmarc.${registrableOf(name) ?? name}`, 'v=DMARC1; p=none;', false),
  ];
  if (trackingDomain !== null && setup.trackingHost !== null)
    records.push(record('tracking', 'CNAME', trackingDomain, setup.trackingHost, false));
  return records;
}

function returnPathRecords(domain: RecordSource, setup: DnsSetup): AskedRecord[] {
  const { returnPath } = domain;
  if (setup.returnPathDomain !== null)
    return [record('returnPath', 'CNAME', returnPath, setup.returnPathDomain, false)];
  const { mailHost, relayHost } = setup;
  const isRelayed = wayOf(domain, setup) === 'smtp';
  const policy = `v=spf1 ${mechanismOf((isRelayed ? relayHost : null) ?? mailHost)} ~all`;
  const required = !isRelayed;
  // One without the other is of no use: receivers refuse envelope senders whose domain takes no mail.
  return [
    record('spf', 'TXT', returnPath, policy, required),
    record('mx', 'MX', returnPath, mailHost, required),
  ];
}

const mechanismOf = (host: string): string => {
  const version = isIP(host);
  return version === 0 ? `a:${host}` : `ip${version}:${host}`;
};

function record(
  slot: Slot,
  type: ExpectedRecord['type'],
  name: string,
  value: string,
  required: boolean,
): AskedRecord {
  const priority = type === 'MX' ? 10 : null;
  const fingerprint = new Bun.CryptoHasher('sha256')
    .update(`${type} ${name} ${value}`)
    .digest('hex')
    .slice(0, 12);
  const purpose = slot === 'dkimEd25519' ? 'dkim' : slot;
  return { slot, purpose, type, name, value, priority, ttl: TTL_SECONDS, required, fingerprint };
}

/** What is known of a record; null when it was never looked up as it is to be now. */
export const standingOf = (
  { slot, fingerprint }: AskedRecord,
  standings: readonly RecordStanding[],
): RecordStanding | null =>
  standings.find((known) => known.slot === slot && known.fingerprint === fingerprint) ?? null;

/** How the records of a name that nobody can prove stand while nothing leaves. */
export const exemptStandings = (records: readonly AskedRecord[]): readonly RecordStanding[] =>
  records.map(({ slot, fingerprint }) => ({ slot, fingerprint, status: 'verified', found: [], error: null }));
