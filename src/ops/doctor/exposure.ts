import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Config, hasSmtpCertificate } from '../../platform/config/config.ts';
import { hostOf } from '../../platform/text/host.ts';
import { type Diagnosis, fine, skipped, warning, wrong } from './diagnosis.ts';
import { rangeOfStrangers } from './trusted-ranges.ts';

/** The settings that decide who can reach this service, and how. */
export type Exposure = Pick<
  Config,
  | 'host'
  | 'httpsPort'
  | 'publicUrl'
  | 'trustProxy'
  | 'submissionPort'
  | 'submissionTlsPort'
  | 'submissionTlsCert'
>;

/** The links that leave with emails lead to a place that recipients can reach. */
export function diagnosePublicUrl({ host, publicUrl }: Exposure): Diagnosis {
  const check = 'Public URL';
  const named = reachOf(hostOf(new URL(publicUrl)));
  if (named !== 'machine') return fine(check, `${publicUrl} is where links lead.`);
  if (reachOf(host) === 'machine')
    return skipped(check, `Only this machine reaches the service, at ${publicUrl}.`);
  return wrong(
    check,
    `HOST=${host} lets other machines in, but links in emails, webhooks and documents lead to ${publicUrl}, which is the machine of each reader.`,
    'Set PUBLIC_URL to the address at which others reach this service, such as https://mail.example.com.',
  );
}

/**
 * Networks of content delivery have as many addresses: 104.16.0.0/13 of Cloudflare, 2600:9000::/28 of
 * CloudFront.
 */
const WIDEST = { ipv4: 12, ipv6: 24 };

/**
 * Requests count against their senders. Without HTTPS_PORT the service speaks plain HTTP, so that a proxy
 * answers for an https address.
 */
export function diagnoseProxy({ publicUrl, trustProxy, httpsPort }: Exposure): Diagnosis {
  const check = 'Proxy';
  const isTrusted = !('hops' in trustProxy) || trustProxy.hops > 0;
  const wide = 'ranges' in trustProxy ? rangeOfStrangers(trustProxy.ranges, WIDEST) : null;
  if (wide !== null)
    return warning(
      check,
      `TRUST_PROXY names ${wide}, in which strangers may have addresses: each could choose the address that its requests count against, by X-Forwarded-For.`,
      'Set TRUST_PROXY to the addresses of your proxies, or to their number.',
    );
  if (isTrusted) return fine(check, 'TRUST_PROXY names the proxies whose X-Forwarded-For is trusted.');
  if (httpsPort !== null) return skipped(check, `HTTPS is served here, on port ${httpsPort}.`);
  if (!publicUrl.startsWith('https:')) return skipped(check, 'None is expected in front of an http address.');
  return wrong(
    check,
    `A proxy answers for ${publicUrl}, and TRUST_PROXY trusts none: all requests count against the proxy's own address, so that RATE_LIMIT_PER_IP and the limit on wrong passwords apply to all clients together.`,
    'Set TRUST_PROXY to the number of proxies in front, usually 1, or to their addresses.',
  );
}

/** API keys that come in over SMTP cannot be read on the way. */
export function diagnoseSubmission(exposure: Exposure): Diagnosis {
  const check = 'Submission';
  const { host, submissionPort, submissionTlsPort } = exposure;
  const ports = [submissionPort, submissionTlsPort].filter((port) => port !== null);
  if (ports.length === 0) return skipped(check, 'No port takes emails over SMTP.');
  if (hasSmtpCertificate(exposure))
    return fine(check, `Passwords are accepted over TLS only, on ${ports.join(' and ')}.`);
  if (reachOf(host) !== 'world')
    return fine(check, `Port ${submissionPort} takes passwords in clear text, within ${host} only.`);
  return wrong(
    check,
    `Port ${submissionPort} on ${host} takes passwords in clear text, and they are API keys: an eavesdropper on the network could send mail.`,
    'Set SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY, or HOST to an address of a network that you trust.',
  );
}

/**
 * The reach of an address: its own machine, a private network, or anywhere. A name counts as reachable from
 * anywhere.
 */
function reachOf(host: string): 'machine' | 'network' | 'world' {
  if (host === 'localhost') return 'machine';
  if (isIP(host) === 0) return 'world';
  const range = ipaddr.process(host).range();
  if (range === 'loopback') return 'machine';
  return range === 'private' || range === 'uniqueLocal' || range === 'linkLocal' ? 'network' : 'world';
}
