import { isIP } from 'node:net';
import type { RecordStanding } from '../../../machines/domain-context.ts';
import type { ExpectedRecord } from '../../transport/dns/txt-rules.ts';
import type { EnabledTransports, Transport } from '../../transport/transport.ts';
import { ed25519SelectorOf, type KeySet, keysAt } from './keys.ts';
import { registrableOf } from './name.ts';

/** How this installation sends and receives: what the records of every domain point to. */
export interface DnsSetup {
  /** The ways that mail may leave by, the default one first. */
  readonly ways: EnabledTransports;
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
  readonly keySets: readonly KeySet[];
  /** The host of envelope senders, `send.example.com`. */
  readonly returnPath: string;
  readonly trackingDomain: string | null;
  /** The way that was chosen for its mail; null for the default one. */
  readonly provider: Transport['name'] | null;
}

/** The way that its mail leaves by, whether that way is enabled or not. */
export const transportOf = (
  { provider }: Pick<RecordSource, 'provider'>,
  { ways }: DnsSetup,
): Transport['name'] => provider ?? ways[0];

/** Which of a domain's records. */
export type Slot =
  | 'dkim'
  | 'dkimEd25519'
  | 'nextDkim'
  | 'nextDkimEd25519'
  | 'spf'
  | 'returnPath'
  | 'mx'
  | 'dmarc'
  | 'tracking';

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

/**
 * The records of a domain, in the order in which they are best set.
 * - Both DKIM keys. Only the RSA key is required: not everybody verifies Ed25519, and it signs only once its record is seen.
 * - Beside them those of the next keys while a rotation waits for them. Nothing depends on them before the switch.
 * - The return path: with RETURN_PATH_DOMAIN one alias, which brings that domain's MX and SPF along; otherwise MX and SPF
 *   of its own. Behind a relay we cannot know who sends in the end, so they are advice.
 * - SES signs by itself, with the RSA key alone, and has a return path of its own.
 * - DMARC at the registrable domain, whose policy holds for all below it (RFC 7489 6.6.3).
 */
export function recordsOf(domain: RecordSource, setup: DnsSetup): readonly AskedRecord[] {
  const { name, keySets, trackingDomain } = domain;
  const signsHere = transportOf(domain, setup) !== 'ses';
  const records = [
    ...keyRecords(domain, keysAt(keySets, 'active'), ['dkim', 'dkimEd25519'], signsHere),
    ...keyRecords(domain, keysAt(keySets, 'pending'), ['nextDkim', 'nextDkimEd25519'], signsHere),
    ...(signsHere ? returnPathRecords(domain, setup) : []),
    record('dmarc', 'TXT', `_dmarc.${registrableOf(name) ?? name}`, 'v=DMARC1; p=none;', false),
  ];
  if (trackingDomain !== null && setup.trackingHost !== null)
    records.push(record('tracking', 'CNAME', trackingDomain, setup.trackingHost, false));
  return records;
}

/** The names in DNS of a set of keys: RSA, Ed25519. */
export const keyNames = (domain: string, selector: string): readonly [string, string] => [
  `${selector}._domainkey.${domain}`,
  `${ed25519SelectorOf(selector)}._domainkey.${domain}`,
];

function keyRecords(
  { name }: RecordSource,
  keys: KeySet | null,
  [rsa, ed25519]: readonly [Slot, Slot],
  signsHere: boolean,
): AskedRecord[] {
  if (!keys) return [];
  const [rsaName, ed25519Name] = keyNames(name, keys.selector);
  return [
    record(rsa, 'TXT', rsaName, keys.rsaValue, keys.stage === 'active'),
    ...(signsHere ? [record(ed25519, 'TXT', ed25519Name, keys.ed25519Value, false)] : []),
  ];
}

function returnPathRecords(domain: RecordSource, setup: DnsSetup): AskedRecord[] {
  const { returnPath } = domain;
  if (setup.returnPathDomain !== null)
    return [record('returnPath', 'CNAME', returnPath, setup.returnPathDomain, false)];
  const { mailHost, relayHost } = setup;
  const isRelayed = transportOf(domain, setup) === 'smtp';
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
  const purpose = PURPOSES[slot];
  return { slot, purpose, type, name, value, priority, ttl: TTL_SECONDS, required, fingerprint };
}

const PURPOSES = {
  dkim: 'dkim',
  dkimEd25519: 'dkim',
  nextDkim: 'dkim',
  nextDkimEd25519: 'dkim',
  spf: 'spf',
  returnPath: 'returnPath',
  mx: 'mx',
  dmarc: 'dmarc',
  tracking: 'tracking',
} as const satisfies Record<Slot, ExpectedRecord['purpose']>;

/** What is known of a record; null when it was never looked up as it is to be now. */
export const standingOf = (
  { slot, fingerprint }: AskedRecord,
  standings: readonly RecordStanding[],
): RecordStanding | null =>
  standings.find((known) => known.slot === slot && known.fingerprint === fingerprint) ?? null;

/** How the records of a name that nobody can prove stand while nothing leaves. */
export const exemptStandings = (records: readonly AskedRecord[]): readonly RecordStanding[] =>
  records.map(({ slot, fingerprint }) => ({ slot, fingerprint, status: 'verified', found: [], error: null }));
