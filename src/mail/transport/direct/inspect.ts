import { openSession, SessionFailure } from '../smtp/session.ts';
import type { Finding } from '../transport.ts';
import { addressesOf, endpoint, type Reach } from './deliver.ts';
import { routeOf } from './route.ts';

/** Checks the name of this server and the outgoing port. No mail is sent. */
export const inspect = async (reach: Reach, probeDomain: string | null): Promise<readonly Finding[]> => {
  const [name, port] = await Promise.all([
    inspectName(reach),
    probeDomain === null ? [] : inspectPort(reach, probeDomain),
  ]);
  return [...name, ...port];
};

/**
 * Checks forward-confirmed reverse DNS: the name in EHLO has an address, and that address has this name.
 */
const inspectName = async ({ resolver, ehloName }: Reach): Promise<readonly Finding[]> => {
  const check = `Name of this server, ${ehloName}`;
  const answers = await Promise.all([resolver.ipv4(ehloName), resolver.ipv6(ehloName)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'found' ? answer.records : []));
  if (addresses.length === 0) {
    const failed = answers.find(({ status }) => status === 'failed');
    const detail =
      failed?.status === 'failed' ? `Looking it up failed: ${failed.reason}.` : 'It has no address in DNS.';
    return [{ check, ok: false, detail, advice: NAME_IT }];
  }
  return Promise.all(
    addresses.map(async (address) => {
      const names = await resolver.reverse(address);
      const isConfirmed = names.status === 'found' && names.records.includes(ehloName.toLowerCase());
      if (isConfirmed)
        return { check, ok: true, detail: `${address} has this name in reverse DNS.`, advice: null };
      const found = names.status === 'found' ? names.records.join(', ') : 'no name';
      return {
        check,
        ok: false,
        detail: `Its address ${address} has ${found} in reverse DNS.`,
        advice: `Ask your hosting provider to set the reverse DNS of ${address} to ${ehloName}; many receivers refuse mail without it.`,
      };
    }),
  );
};

const NAME_IT = 'Set EHLO_NAME to a name whose A or AAAA record is the public address of this machine.';

const inspectPort = async (reach: Reach, domain: string): Promise<readonly Finding[]> => {
  const check = `Port ${reach.port} outwards, to ${domain}`;
  const route = await routeOf(domain, reach.resolver, () => 0);
  if (route.status !== 'found')
    return [{ check, ok: false, detail: `${route.reason}.`, advice: NAME_SERVERS }];
  const [host = ''] = route.hosts;
  const [address] = await addressesOf(host, reach);
  if (address === undefined)
    return [{ check, ok: false, detail: `${host} has no address.`, advice: NAME_SERVERS }];
  try {
    const target = endpoint({ host, address }, 'opportunistic', false, reach);
    const session = await openSession(target, AbortSignal.timeout(2 * reach.connectMs));
    session.quit();
    return [{ check, ok: true, detail: `${host} answers.`, advice: null }];
  } catch (error) {
    if (!(error instanceof SessionFailure)) throw error;
    return [{ check, ok: false, detail: error.reply ?? error.message, advice: BLOCKED }];
  }
};

const NAME_SERVERS = 'Check the name servers of this machine, or set DNS_SERVERS.';
const BLOCKED =
  'Many providers block this port by default. Ask yours to open it, or send through a relay: TRANSPORT=smtp.';
