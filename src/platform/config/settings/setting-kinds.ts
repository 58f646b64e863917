import { readFileSync, statSync } from 'node:fs';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import ipaddr from 'ipaddr.js';
import { readBucketAddress } from '../../bodies/address.ts';
import { MOST_SERVERS, serverUrls } from '../../db/server/server-urls.ts';
import { isProblem, parseAddress } from '../../text/address.ts';
import { parseRanges, parseTrustedProxies, type Range, type TrustedProxies } from '../client-address.ts';
import { readRelayUrl } from '../relay-url.ts';

/** The form of a value in the environment. */
export interface Kind<Value extends TSchema = TSchema> {
  /** Completes the sentence "it must be …". */
  readonly allowed: string;
  /** Converts the text to the value that `value` checks; null when the text cannot be read at all. */
  readonly read: (text: string) => unknown;
  readonly value: Value;
}

export const kind = <Value extends TSchema>(
  allowed: string,
  value: Value,
  read: (text: string) => Static<Value> | string | null = (text) => text,
): Kind<Value> => ({ allowed, value, read });

const items = (written: string) => written.split(',').map((item) => item.trim());

/** An integer of digits only: `Number` alone would also accept `0x10`, `1e3`, ` 7` and the empty text. */
const digits = (text: string): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null);

export const text = (allowed: string, options: { minLength?: number; pattern?: string } = {}) =>
  kind(allowed, Type.String({ minLength: 1, ...options }));

/** Size limit of a PEM file; the bundle of all public authorities has 230 KB. */
const LARGEST_PEM = 1_048_576;

const readPem = (path: string): string | null => {
  try {
    const file = statSync(path);
    return file.isFile() && file.size <= LARGEST_PEM ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
};

/**
 * The path of a PEM file, which is read at once, so that a wrong path is reported with the other problems.
 */
export const pemFile = (holding: string, label: string) =>
  kind(`the path of a file that can be read and holds ${holding} in PEM`, Type.String(), (path) =>
    new RegExp(`^-----BEGIN ${label}-----`, 'm').test(readPem(path) ?? '') ? path : null,
  );

/** A percentage with up to three decimals. */
export const percentage = () =>
  kind('a percentage from 0 to 100, such as 0.3', Type.Number({ minimum: 0, maximum: 100 }), (text) =>
    /^\d{1,3}(?:\.\d{1,3})?$/.test(text) ? Number(text) : null,
  );

/** A share with up to six decimals. */
export const share = kind(
  'a number from 0 to 1, such as 0.1',
  Type.Number({ minimum: 0, maximum: 1 }),
  (text) => (/^(?:0|1|0?\.\d{1,6}|1\.0+)$/.test(text) ? Number(text) : null),
);

/** Headers of HTTP in the form of OpenTelemetry: names of RFC 9110 tokens, values encoded for URLs. */
export const headers = kind(
  'headers such as api-key=secret, separated by commas',
  Type.Record(Type.String(), Type.String()),
  (written) => {
    const pairs = items(written).map((item) => /^([\w!#$%&'*+.^`|~-]+)=(.*)$/.exec(item));
    try {
      const read = pairs.map(
        (pair) => [pair?.[1] ?? '', decodeURIComponent(pair?.[2] ?? '').trim()] as const,
      );
      return read.every(([name, value]) => name !== '' && /^[\x20-\x7e]+$/.test(value))
        ? Object.fromEntries(read)
        : null;
    } catch {
      return null;
    }
  },
);

export const integer = (minimum: number, maximum: number, also = '') =>
  kind(`a whole number from ${minimum} to ${maximum}${also}`, Type.Integer({ minimum, maximum }), digits);

export const port = kind(
  'a port number from 1 to 65535',
  Type.Integer({ minimum: 1, maximum: 65_535 }),
  digits,
);

/** Exactly one of the words. */
export const choice = <const Names extends readonly string[]>(...names: Names) =>
  kind(
    `one of ${names.join(', ')}`,
    Type.Unsafe<Names[number]>(Type.Union(names.map((name) => Type.Literal(name)))),
  );

/** One or more of the words, each once, separated by commas. */
export const choices = <const Names extends readonly string[]>(meaning: string, ...names: Names) =>
  kind(
    `one of ${names.join(', ')}, or several separated by commas, each once, ${meaning}`,
    Type.Unsafe<readonly [Names[number], ...Names[number][]]>(
      Type.Array(Type.Union(names.map((name) => Type.Literal(name))), { minItems: 1, uniqueItems: true }),
    ),
    (written) => items(written) as [Names[number], ...Names[number][]],
  );

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
export const domain = text('a domain name in lower case, such as mail.example.com', {
  pattern: `^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})+$`,
});

/** A sender, with a name or without; it is stored as written. */
export const sender = kind('an address such as Posthorn <posthorn@example.com>', Type.String(), (written) =>
  isProblem(parseAddress(written)) ? null : written,
);

/** An absolute URL with one of the schemes; a slash at the end of its path is removed. */
export const url = (allowed: string, ...schemes: string[]) =>
  kind(allowed, Type.String(), (written) => {
    const parsed = URL.canParse(written) ? new URL(written) : null;
    if (parsed === null || parsed.hostname === '' || !schemes.includes(parsed.protocol)) return null;
    return written.replace(/\/+$/, '');
  });

/**
 * An address to which paths are added: nothing may stand behind its own path, and no account before its host.
 */
export const baseUrl = kind(
  'an http or https URL without user, query and fragment',
  Type.String(),
  (written) => {
    const parsed = URL.canParse(written) ? new URL(written) : null;
    if (parsed === null || parsed.hostname === '' || !/^https?:$/.test(parsed.protocol)) return null;
    return parsed.username !== '' || parsed.password !== '' || /[?#]/.test(written)
      ? null
      : written.replace(/\/+$/, '');
  },
);

export const relayUrl = kind(
  'a URL such as smtps://user:password@host:465, with % codes for all but letters and digits in a password, and behind smtp:// at most ?tls=required, opportunistic or none',
  Type.String(),
  (written) => (readRelayUrl(written) === null ? null : written.replace(/\/+$/, '')),
);

/** A bucket, and what names in it begin with. */
export const bucket = kind(
  's3:// with the name of a bucket and no dots in it, and a prefix if you like, such as s3://acme-mail/posthorn',
  Type.String(),
  (written) => (readBucketAddress(written) === null ? null : written),
);

/** A PostgreSQL, or several servers of one, of which another takes the writes after a failover. */
export const databaseUrl = kind(
  `a URL such as postgres://user:password@host:5432/name, with at most ${MOST_SERVERS} hosts separated by commas, or postgres:///name?host=/run/postgresql, and % codes for all but letters and digits in a password (%23 for #)`,
  Type.String(),
  (written) => (serverUrls(written) === null ? null : written.replace(/\/+$/, '')),
);

export const apiKey = (env: 'live' | 'test') =>
  text(`svc_${env}_ and 32 letters or digits`, { pattern: `^svc_${env}_[A-Za-z0-9]{32}$` });

const cidrList = (written: string): string[] | null => {
  const list = items(written).map((item) =>
    item.includes('/') || !ipaddr.isValid(item)
      ? item
      : `${item}/${ipaddr.parse(item).kind() === 'ipv4' ? 32 : 128}`,
  );
  return list.every((item) => ipaddr.isValidCIDR(item)) ? list : null;
};

export const cidrs = kind(
  'addresses or ranges such as 10.0.0.0/8, separated by commas',
  Type.Array(Type.String()),
  cidrList,
);

/** The trust in X-Forwarded-For: a number of hops, or the addresses of trusted proxies. */
export const proxyTrust = kind(
  'the number of proxies in front, or their addresses or ranges, separated by commas',
  Type.Unsafe<TrustedProxies>(Type.Object({})),
  parseTrustedProxies,
);

/** The addresses of trusted balancers. With every address in them, each client would name its own. */
export const balancers = kind(
  'addresses or ranges such as 10.0.0.0/8 and not all addresses, separated by commas',
  Type.Unsafe<readonly Range[]>(Type.Array(Type.Any())),
  (written) => {
    const ranges = parseRanges(written);
    return ranges?.every(([, bits]) => bits > 0) ? ranges : null;
  },
);

/** The store for shared counters: a Redis, or the memory of each instance. */
export const sharedCounter = kind(
  'memory, or a URL such as redis://host:6379',
  Type.String({ pattern: '^(memory|rediss?://.+)$' }),
  (written) => (written === 'memory' || URL.canParse(written) ? written : null),
);

/** Name servers with their ports, `9.9.9.9` meaning `9.9.9.9:53`. */
export const nameServers = kind(
  'addresses of name servers, each with a port if it is not 53, separated by commas',
  Type.Array(Type.Object({ address: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) })),
  (written) => {
    const servers = items(written).map((item) => {
      const [, address = item, at = '53'] =
        /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(ipaddr.isValid(item) ? '' : item) ?? [];
      return ipaddr.isValid(address) ? { address, port: Number(at) } : null;
    });
    return servers.some((server) => server === null) ? null : servers.filter((server) => server !== null);
  },
);
