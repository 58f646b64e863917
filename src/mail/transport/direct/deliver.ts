import type { Resolver } from '../../dns/resolver.ts';
import { type Beginning, TakenBack } from '../begin.ts';
import { type Endpoint, SILENCE_MS } from '../smtp/endpoint.ts';
import { withoutReply } from '../smtp/outcome.ts';
import { type Mail, transmit } from '../smtp/transmit.ts';
import type { RecipientOutcome } from '../transport.ts';
import type { MxGroup } from './mx-group.ts';

/** The means to reach mail servers. */
export interface Reach {
  readonly resolver: Resolver;
  readonly mayConnect: (address: string) => boolean;
  readonly port: number;
  readonly ca: string | null;
  readonly ehloName: string;
  readonly connectMs: number;
}

/** One message for the recipients at one MX group. */
export interface Plan {
  /** The hosts in the order in which they are tried. */
  readonly hosts: readonly string[];
  readonly group: MxGroup;
  readonly mail: Mail;
  /** True when an MTA-STS policy requires TLS with a certificate that is valid for the host. */
  readonly enforced: boolean;
}

/** RFC 5321 5.1 requires that more than one address is tried, and lets a client set a limit. */
const ADDRESSES = 5;
/**
 * Servers that may answer: one that defers has one alternative. Five of them would make a rate limit worse.
 */
const CONVERSATIONS = 2;

/**
 * Tries the hosts in order, IPv6 before IPv4, as long as a recipient is deferred. A recipient with an unknown
 * outcome is not tried at another host, which might deliver a second copy.
 */
export const deliver = async (
  plan: Plan,
  reach: Reach,
  signal: AbortSignal,
  beginning: Beginning,
): Promise<readonly RecipientOutcome[]> => {
  const { hosts, mail } = plan;
  const outcomes = new Map(
    mail.recipients.map((one) => [
      one,
      withoutReply(one, 'deferred', unreachable(hosts), 'ConnectionFailed'),
    ]),
  );
  const open = () => mail.recipients.filter((one) => outcomes.get(one)?.outcome === 'deferred');
  let addresses = 0;
  let conversations = 0;
  for (const host of hosts)
    for (const address of await addressesOf(host, reach)) {
      if (addresses === ADDRESSES || conversations === CONVERSATIONS || signal.aborted || open().length === 0)
        return [...outcomes.values()];
      addresses += 1;
      const left = { ...mail, recipients: open() };
      const results = await tryAddress(left, { host, address }, plan, reach, signal, beginning).catch(
        (error) => {
          // The answer of another host counts.
          if (error instanceof TakenBack && conversations > 0) return [];
          throw error;
        },
      );
      if (results.some(({ smtpCode }) => smtpCode !== null)) conversations += 1;
      for (const result of results) outcomes.set(result.recipient, result);
    }
  return [...outcomes.values()];
};

const unreachable = (hosts: readonly string[]): string =>
  `No address can be reached for ${hosts.slice(0, 5).join(', ')}`;

interface Target {
  readonly host: string;
  readonly address: string;
}

const tryAddress = async (
  mail: Mail,
  target: Target,
  { group, enforced }: Plan,
  reach: Reach,
  signal: AbortSignal,
  beginning: Beginning,
): Promise<RecipientOutcome[]> => {
  const over = (tls: Endpoint['tls']) => {
    const pool = group.pool(endpoint(target, tls, enforced, reach));
    return transmit(mail, pool, group.site(target.host), target.host, signal, beginning);
  };
  const results = await over(enforced ? 'required' : 'opportunistic');
  // RFC 7435: without a policy, failed encryption is no reason to hold the mail back.
  const tlsBroke = results.every(({ subType }) => subType === 'TlsFailed');
  return tlsBroke && !enforced && !signal.aborted ? over('none') : results;
};

/** The endpoint for one address of a host. */
export const endpoint = (
  target: Target,
  tls: Endpoint['tls'],
  verifyCertificate: boolean,
  reach: Reach,
): Endpoint => ({
  host: target.address,
  port: reach.port,
  name: target.host,
  tls,
  // Hardly any MX has a certificate for its own name; unverified TLS still defeats a passive listener.
  verifyCertificate,
  ca: reach.ca,
  ehloName: reach.ehloName,
  credentials: null,
  connectMs: reach.connectMs,
  silenceMs: SILENCE_MS,
});

/** The addresses of a host, IPv6 first, that may be connected to. */
export const addressesOf = async (host: string, { resolver, mayConnect }: Reach): Promise<string[]> => {
  const answers = await Promise.all([resolver.ipv6(host), resolver.ipv4(host)]);
  return answers.flatMap((answer) => (answer.status === 'found' ? answer.records : [])).filter(mayConnect);
};
