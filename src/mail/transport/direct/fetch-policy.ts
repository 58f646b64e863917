import { get } from 'node:https';
import { isIPv6 } from 'node:net';
import type { Resolver } from '../../dns/resolver.ts';
import type { FetchPolicy } from './sts-policies.ts';

/** RFC 8461 3.3 asks for a limit and suggests 64 KB; a policy has a few hundred octets. */
const LONGEST = 65_536;
const TIMEOUT_MS = 10_000;

/**
 * Fetches policy files over HTTPS, from the address that our own resolver gives. The certificate must be
 * valid for the host, a redirect is not followed, and only 200 with text/plain counts (RFC 8461 3.3).
 */
export const createFetchPolicy =
  (options: {
    readonly resolver: Resolver;
    readonly mayConnect: (address: string) => boolean;
    readonly ca: string | null;
    readonly port?: number;
  }): FetchPolicy =>
  async (domain) => {
    const host = `mta-sts.${domain}`;
    const address = await addressOf(host, options.resolver);
    if (address === null || !options.mayConnect(address)) return null;
    return new Promise((resolve) => {
      const request = get({
        host,
        servername: host,
        port: options.port ?? 443,
        path: '/.well-known/mta-sts.txt',
        // The connection goes to the address that was checked.
        lookup: (_name, { all }, done) =>
          all
            ? done(null, [{ address, family: isIPv6(address) ? 6 : 4 }])
            : done(null, address, isIPv6(address) ? 6 : 4),
        ...(options.ca === null ? {} : { ca: options.ca }),
        agent: false,
      });
      const timer = setTimeout(() => end(null), TIMEOUT_MS);
      const end = (text: string | null) => {
        clearTimeout(timer);
        request.destroy();
        resolve(text);
      };
      request.on('error', () => end(null));
      request.on('response', (response) => {
        const type = response.headers['content-type'] ?? '';
        if (response.statusCode !== 200 || !/^text\/plain\s*(;|$)/i.test(type)) return end(null);
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > LONGEST) end(null);
        });
        response.on('end', () => end(text));
        response.on('error', () => end(null));
      });
    });
  };

const addressOf = async (host: string, resolver: Resolver): Promise<string | null> => {
  for (const lookUp of [resolver.ipv4, resolver.ipv6]) {
    const answer = await lookUp(host);
    if (answer.status === 'found') return answer.records[0] ?? null;
  }
  return null;
};
