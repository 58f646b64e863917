import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { RecordStatus } from '../../../../machines/domain/context.ts';
import type { ExpectedRecord } from '../../../mail/dns/txt-rules.ts';
import { orderOf } from '../../../mail/transport/order.ts';
import { TRANSPORT_TRAITS, type TransportTraits } from '../../../mail/transport/traits.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import type { EnabledTransports } from '../../../platform/config/transport-names.ts';
import { registrableOf } from '../../../platform/text/host.ts';
import { ed25519SelectorOf, type KeySet, keysAt } from './keys.ts';

/** The hosts of this installation that the records of every domain point to. */
export interface DnsSetup {
  /** The enabled transports, the default one first. */
  readonly transports: EnabledTransports;
  /** The name of this server as a mail server, which sends and receives bounces. */
  readonly mailHost: string;
  /** The relays of the transport `smtp`; one on this machine goes by the name of this server. */
  readonly relayHosts: readonly string[];
  /** A domain of the operator that receives the bounces of all domains. */
  /** True where EHLO_NAME names the mail server, and not PUBLIC_URL. */
  readonly hasMailName: boolean;
  readonly returnPathDomain: string | null;
  /** The host that counts opens and clicks; null when it is an address, which a CNAME cannot point to. */
  readonly trackingHost: string | null;
  /** True where this service receives mail for return paths, and so the reports about its domains. */
  readonly receivesReports: boolean;
}

/** The parts of a domain that determine its records. */
export interface RecordSource {
  readonly name: string;
  readonly keySets: readonly KeySet[];
  /** The host of envelope senders, `send.example.com`. */
  readonly returnPath: string;
  readonly trackingDomain: string | null;
  /** True while it has a route of received mail. */
  readonly receives: boolean;
  /** The chosen transport; null for the default one. */
  readonly provider: Transport['name'] | null;
  /** The transports that take over while that one is down, as they were chosen. */
  readonly fallbacks: readonly Transport['name'][];
}

/** The transport of a domain, whether it is enabled or not. */
export const transportOf = (
  { provider }: Pick<RecordSource, 'provider'>,
  { transports }: DnsSetup,
): Transport['name'] => provider ?? transports[0];

/** The transports that mail of a domain may leave by, the first one first. */
export const waysOf = (
  domain: Pick<RecordSource, 'provider' | 'fallbacks'>,
  setup: DnsSetup,
): readonly [Transport['name'], ...Transport['name'][]] =>
  orderOf(transportOf(domain, setup), domain.fallbacks);

/** The role of a record among those of a domain. */
export type Slot =
  | 'dkim'
  | 'dkimEd25519'
  | 'nextDkim'
  | 'nextDkimEd25519'
  | 'spf'
  | 'returnPath'
  | 'mx'
  | 'receiving'
  | 'dmarc'
  | 'tlsReports'
  | 'tracking';

/** A record that the owner of a domain has to set. */
export interface AskedRecord extends ExpectedRecord {
  /**
   * A sentence about the setting that has to name a public host before the record is worth setting; null
   * where it is.
   */
  readonly unset: string | null;
  readonly slot: Slot;
  /** Seconds. */
  readonly ttl: number;
  /**
   * True when no mail is sent without it, or, of the slot `receiving`, none received; the other records are
   * recommendations.
   */
  readonly required: boolean;
  readonly fingerprint: string;
}

const TTL_SECONDS = 3_600;

/**
 * The records of a domain, in the best order to set them:
 * - Both DKIM keys. Only the RSA key is required: not every receiver verifies Ed25519, which signs only once
 *   its record is in DNS.
 * - The next keys, while a rotation waits for them. Nothing depends on them before the switch.
 * - The return path: with RETURN_PATH_DOMAIN one alias, which includes that domain's MX and SPF; otherwise MX
 *   and SPF for the return path itself. They are not required behind a relay, because we cannot know which
 *   server sends in the end.
 * - For SES only the RSA key: SES signs with that key alone and uses its own return path.
 * - With several transports the records of each, so that mail by any of them is aligned. Only those of the
 *   first one are required: a fallback must not keep back mail that leaves without it.
 * - The MX of the domain itself while it has a route of received mail. Without a route it is not listed: it
 *   would
 *   take the mail of a domain away from the server that has it.
 * - DMARC at the registrable domain, whose policy applies to all names below it (RFC 9989 4.10). A policy of
 *   the domain itself
 *   counts as well.
 * - Where this service receives mail, the addresses for DMARC and TLS reports: they are at the return path,
 *   whose MX leads here, in the
 *   same organization, so that no further record is needed (RFC 9990 4).
 */
export function recordsOf(domain: RecordSource, setup: DnsSetup): readonly AskedRecord[] {
  const { name, keySets, trackingDomain } = domain;
  const signsHere = waysOf(domain, setup).some((way) => TRANSPORT_TRAITS[way].isSignedHere);
  const records = [
    ...keyRecords(domain, keysAt(keySets, 'active'), ['dkim', 'dkimEd25519'], signsHere),
    ...keyRecords(domain, keysAt(keySets, 'pending'), ['nextDkim', 'nextDkimEd25519'], signsHere),
    ...(signsHere ? returnPathRecords(domain, setup) : []),
    ...(domain.receives ? [receivingRecord(domain, setup)] : []),
    record('dmarc', 'TXT', `_dmarc.${registrableOf(name) ?? name}`, dmarcPolicy(domain, setup), false),
    ...(takesReports(domain, setup)
      ? [record('tlsReports', 'TXT', `_smtp._tls.${name}`, tlsReportPolicy(domain), false)]
      : []),
  ];
  if (trackingDomain !== null && setup.trackingHost !== null)
    records.push(
      record(
        'tracking',
        'CNAME',
        trackingDomain,
        setup.trackingHost,
        false,
        unsetOf([setup.trackingHost], setup),
      ),
    );
  return records;
}

/** True where mail to the return path comes to this service. */
const takesReports = (domain: RecordSource, setup: DnsSetup): boolean =>
  setup.receivesReports && waysOf(domain, setup).some((way) => TRANSPORT_TRAITS[way].isSignedHere);

const dmarcPolicy = (domain: RecordSource, setup: DnsSetup): string =>
  takesReports(domain, setup)
    ? `v=DMARC1; p=none; rua=mailto:dmarc@${domain.returnPath}`
    : 'v=DMARC1; p=none;';

/** RFC 8460 3. */
const tlsReportPolicy = ({ returnPath }: RecordSource): string =>
  `v=TLSRPTv1; rua=mailto:tlsrpt@${returnPath}`;

/** The DNS names of a set of keys: RSA, then Ed25519. */
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
  const { mailHost, relayHosts } = setup;
  const hostsOf: Readonly<Record<TransportTraits['sendingHosts'], readonly string[]>> = {
    own: [mailHost],
    relay: relayHosts.length > 0 ? relayHosts : [mailHost],
    none: [],
  };
  const hosts = waysOf(domain, setup).flatMap((way) => hostsOf[TRANSPORT_TRAITS[way].sendingHosts]);
  const unset = unsetOf(hosts, setup);
  const policy = `v=spf1 ${[...new Set(hosts)].map(mechanismOf).join(' ')} ~all`;
  const required = TRANSPORT_TRAITS[transportOf(domain, setup)].needsReturnPath;
  // SPF needs the MX as well: receivers refuse envelope senders whose domain accepts no mail.
  return [
    record('spf', 'TXT', returnPath, policy, required, unset),
    record('mx', 'MX', returnPath, mailHost, required, unsetOf([mailHost], setup)),
  ];
}

const receivingRecord = ({ name }: RecordSource, setup: DnsSetup): AskedRecord =>
  record('receiving', 'MX', name, setup.mailHost, true, unsetOf([setup.mailHost], setup));

/**
 * The setting to change first where a record would name a host that other mail servers cannot find; null
 * where they can.
 */
function unsetOf(hosts: readonly string[], { mailHost, hasMailName, trackingHost }: DnsSetup): string | null {
  const host = hosts.find((each) => !isReachable(each));
  if (host === undefined) return null;
  const setting =
    host !== mailHost && host !== trackingHost
      ? 'SMTP_URL'
      : hasMailName && host === mailHost
        ? 'EHLO_NAME'
        : 'PUBLIC_URL';
  return `The record would name ${host}, which other mail servers cannot find. Set ${setting} to a public name of this service first; the record then names it.`;
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
  unset: string | null = null,
): AskedRecord {
  const priority = type === 'MX' ? 10 : null;
  const fingerprint = new Bun.CryptoHasher('sha256')
    .update(`${type} ${name} ${value}`)
    .digest('hex')
    .slice(0, 12);
  const purpose = PURPOSES[slot];
  return { slot, purpose, type, name, value, priority, ttl: TTL_SECONDS, required, fingerprint, unset };
}

const PURPOSES = {
  dkim: 'dkim',
  dkimEd25519: 'dkim',
  nextDkim: 'dkim',
  nextDkimEd25519: 'dkim',
  spf: 'spf',
  returnPath: 'returnPath',
  mx: 'mx',
  receiving: 'mx',
  dmarc: 'dmarc',
  tlsReports: 'tlsReports',
  tracking: 'tracking',
} as const satisfies Record<Slot, ExpectedRecord['purpose']>;

/** The stored status of a record; null when it was never looked up with its present value. */
export const knownStatusOf = (
  { slot, fingerprint }: AskedRecord,
  statuses: readonly RecordStatus[],
): RecordStatus | null =>
  statuses.find((known) => known.slot === slot && known.fingerprint === fingerprint) ?? null;

/** The statuses of a domain that is exempt from proof: every record counts as verified. */
export const exemptStatuses = (records: readonly AskedRecord[]): readonly RecordStatus[] =>
  records.map(({ slot, fingerprint }) => ({ slot, fingerprint, status: 'verified', found: [], error: null }));

/**
 * Names that the public DNS does not answer: without a dot, of this machine or network (RFC 6761, 6762,
 * 8375), or of a home.
 */
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|internal|home\.arpa|lan)$/;

/** True where other mail servers can find a host: a name of the public DNS, or a public address. */
export function isReachable(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return isIP(name) === 0 ? !PRIVATE_NAME.test(name) : ipaddr.process(name).range() === 'unicast';
}
