import type { Answer } from '../dns/exchange.ts';
import type { Resolver } from '../dns/resolver.ts';

/** The limits of the lookups for one message. */
export interface LookupLimits {
  readonly most: number;
  readonly withinMs: number;
}

/**
 * SPF alone may need 10 lookups and ten more for each of its MX records (RFC 7208 4.6.4), and should have 20
 * seconds. Ten signatures and the tree walks of DMARC take some twenty.
 */
export const LOOKUP_LIMITS: LookupLimits = { most: 100, withinMs: 20_000 };

/** A lookup that failed, with the code that node:dns would give. */
class LookupError extends Error {
  constructor(
    readonly code: 'ENOTFOUND' | 'ENODATA' | 'ETIMEOUT',
    message: string,
  ) {
    super(message);
  }
}

/** A lookup in the form of `dns.promises.resolve`. */
export type Lookup = (name: string, type: string) => Promise<string[] | string[][]>;

/** The lookups of one message. The same question is asked once; beyond a limit there is no answer. */
export function boundedLookups(
  resolver: Resolver,
  { most, withinMs }: LookupLimits,
  monotonic: () => number = () => performance.now(),
): Lookup {
  const answers = new Map<string, Promise<string[] | string[][]>>();
  const end = monotonic() + withinMs;
  const ask = (name: string, type: string): Promise<string[] | string[][]> => {
    if (answers.size >= most) return failed('too many lookups');
    const left = end - monotonic();
    if (left <= 0) return failed('too much time');
    return within(left, lookUp(resolver, name, type));
  };
  return (name, type) => {
    const key = `${type} ${name.toLowerCase()}`;
    const known = answers.get(key);
    if (known) return known;
    const answer = ask(name, type);
    // A rejection that no one awaits any more is none of the process.
    answer.catch(() => {});
    answers.set(key, answer);
    return answer;
  };
}

const failed = (reason: string): Promise<never> => Promise.reject(new LookupError('ETIMEOUT', reason));

function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new LookupError('ETIMEOUT', 'too much time')), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

async function lookUp(resolver: Resolver, name: string, type: string): Promise<string[] | string[][]> {
  if (type === 'TXT') return valuesOf(await resolver.txt(name)).map((text) => [text]);
  if (type === 'A') return valuesOf(await resolver.ipv4(name));
  if (type === 'AAAA') return valuesOf(await resolver.ipv6(name));
  if (type === 'CNAME') return valuesOf(await resolver.cname(name));
  if (type === 'PTR') return valuesOf(await resolver.pointers(name));
  // mailauth reads `exchange` and `priority`; its types know texts only.
  if (type === 'MX')
    return valuesOf(await resolver.mx(name)).map(({ host, preference }) => ({
      exchange: host,
      priority: preference,
    })) as unknown as string[];
  throw new LookupError('ENODATA', `no lookup of ${type}`);
}

function valuesOf<Value>(answer: Answer<Value>): Value[] {
  if (answer.status === 'found') return [...answer.records];
  if (answer.status === 'nxdomain') throw new LookupError('ENOTFOUND', 'no such name');
  if (answer.status === 'nodata') throw new LookupError('ENODATA', 'no such record');
  throw new LookupError('ETIMEOUT', answer.reason);
}
