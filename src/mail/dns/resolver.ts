/**
 * DNS lookups that distinguish a missing name, a missing record and a failed lookup, and that join the
 * strings of a TXT record. node:dns does neither on Bun, and it caches, which is wrong for a record that was
 * just set (all measured).
 */
import { getServers } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import type DNS from 'dns2';
import { Packet } from 'dns2';
import ipaddr from 'ipaddr.js';
import { Semaphore } from '../../platform/async/semaphore.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { type Answer, ask, type NameServer, type Question, type RecordType, sameName } from './exchange.ts';

type ResourceRecord = DNS.Packet.Resource;

/** A host that receives mail for a domain; the smaller the preference, the earlier it is tried. */
export interface MailExchange {
  readonly host: string;
  readonly preference: number;
}

/** The lookups that mail needs. Names are in ASCII; aliases are followed except by `cname`. */
export interface Resolver {
  mx(name: string): Promise<Answer<MailExchange>>;
  txt(name: string): Promise<Answer<string>>;
  ipv4(name: string): Promise<Answer<string>>;
  ipv6(name: string): Promise<Answer<string>>;
  cname(name: string): Promise<Answer<string>>;
  /** The names of an address. */
  reverse(address: string): Promise<Answer<string>>;
  /** The PTR records of a name. */
  pointers(name: string): Promise<Answer<string>>;
}

/** The patience of a resolver, in ms for each question to each server. */
export interface Patience {
  readonly timeoutMs: number;
  /** Number of times that the whole list of servers is asked. */
  readonly rounds: number;
}

/** A resolver that asks the servers in turn until one answers. Nothing is cached without a `memory`. */
export const createResolver = (
  servers: readonly NameServer[],
  patience: Patience = { timeoutMs: 2_000, rounds: 2 },
  memory: AnswerMemory | null = null,
): Resolver => {
  // A burst of datagrams overflows the server's buffer, and each one lost costs a timeout (1,000 at once:
  // measured).
  const queries = new Semaphore(100);
  const lookUp = async <T>(
    question: Question,
    read: (record: ResourceRecord) => T | undefined,
  ): Promise<Answer<T>> => {
    const known = memory?.get<T>(question);
    if (known) return known;
    let reason = 'no name server is configured';
    for (let round = 0; round < patience.rounds; round++)
      for (const server of servers) {
        const answer = await queries
          .run(() => ask(server, question, patience.timeoutMs))
          .catch((error: Error) => error);
        if (!(answer instanceof Error)) {
          const { rcode } = answer.header;
          if (rcode === Packet.RCODE.NOERROR) {
            const told = found(recordsOf(answer, question), read);
            memory?.keep(question, told, told.status === 'found' ? ttlOf(answer) : ttlOfNothing(answer));
            return told;
          }
          if (rcode === Packet.RCODE.NXDOMAIN) {
            memory?.keep(question, { status: 'nxdomain' }, ttlOfNothing(answer));
            return { status: 'nxdomain' };
          }
          reason = `${RCODE_NAME[rcode] ?? `RCODE ${rcode}`} from ${server.address}`;
        } else reason = `${server.address}: ${answer.message}`;
      }
    return { status: 'failed', reason };
  };
  const pointers = (name: string) => lookUp({ name, type: 'PTR' }, ({ domain }) => domain && lower(domain));
  return {
    mx: (name) =>
      lookUp({ name, type: 'MX' }, ({ exchange, priority }) => ({
        host: lower(exchange ?? ''),
        preference: priority ?? 0,
      })),
    txt: (name) =>
      lookUp({ name, type: 'TXT' }, ({ data }) => (Array.isArray(data) ? data.join('') : undefined)),
    ipv4: (name) => lookUp({ name, type: 'A' }, ({ address }) => address),
    ipv6: (name) => lookUp({ name, type: 'AAAA' }, ({ address }) => address),
    cname: (name) => lookUp({ name, type: 'CNAME' }, ({ domain }) => domain && lower(domain)),
    reverse: (address) => pointers(reverseName(address)),
    pointers,
  };
};

// Labels that are compressed against the question come back in the question's upper and lower case.
const lower = (name: string): string => name.toLowerCase();

const RCODE_NAME: Readonly<Record<number, string>> = {
  1: 'FORMERR',
  2: 'SERVFAIL',
  4: 'NOTIMP',
  5: 'REFUSED',
};

const found = <T>(
  records: ResourceRecord[],
  read: (record: ResourceRecord) => T | undefined,
): Exclude<Answer<T>, { readonly status: 'failed' }> => {
  const values = records.map(read).filter((value) => value !== undefined);
  return values.length === 0 ? { status: 'nodata' } : { status: 'found', records: values };
};

/** The least of an answer, aliases included. */
const ttlOf = ({ answers }: Packet): number => Math.min(...answers.map(({ ttl = 0 }) => ttl));

/**
 * RFC 2308 5: the least of the zone's record and of the time that it names for such answers. Without that
 * record it is not remembered.
 */
function ttlOfNothing({ answers, authorities }: Packet): number {
  const zone = authorities.find(({ type }) => type === Packet.TYPE.SOA);
  return zone ? Math.min(zone.ttl ?? 0, zone.minimum ?? 0, ...answers.map(({ ttl = 0 }) => ttl)) : 0;
}

/**
 * Records of the requested type at the requested name, or at the end of its chain of aliases. Others are
 * ignored.
 */
const recordsOf = ({ answers }: Packet, { name, type }: Question): ResourceRecord[] => {
  const owners = [name];
  for (const owner of owners) {
    const alias = type === 'CNAME' ? undefined : at(answers, owner, 'CNAME')[0]?.domain;
    // An alias that is known already closes a loop.
    if (alias !== undefined && !owners.some((known) => sameName(known, alias))) owners.push(alias);
  }
  return owners.flatMap((owner) => at(answers, owner, type));
};

const at = (answers: readonly ResourceRecord[], owner: string, type: RecordType): ResourceRecord[] =>
  answers.filter((record) => record.type === Packet.TYPE[type] && sameName(record.name, owner));

const reverseName = (address: string): string => {
  if (isIP(address) === 0) throw new TypeError('Not an IP address.');
  const bytes = ipaddr.parse(address).toByteArray();
  if (!isIPv6(address)) return `${bytes.reverse().join('.')}.in-addr.arpa`;
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
};

/** The name servers that this machine is configured with. */
export const systemNameServers = (): NameServer[] =>
  getServers().map((entry) => {
    const [, bracketed, port] = /^\[(.+)\]:(\d+)$/.exec(entry) ?? /^([^:]+):(\d+)$/.exec(entry) ?? [];
    return { address: bracketed ?? entry, port: Number(port ?? 53) };
  });
