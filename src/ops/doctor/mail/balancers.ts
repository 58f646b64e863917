import type { Config } from '../../../platform/config/config.ts';
import { type Diagnosis, fine, skipped, warning } from '../diagnosis.ts';
import { readMetrics } from '../running-service.ts';
import { rangeOfStrangers } from '../trusted-ranges.ts';

const CHECK = 'Balancers';
/** Balancers of one operator have a network such as these. */
const WIDEST = { ipv4: 24, ipv6: 48 };

/**
 * Tells whether SMTP_TRUST_PROXY trusts balancers alone, and whether they send their header, by the metrics
 * of the service on this machine. Nothing where it is not set.
 */
export async function* diagnoseBalancers({
  smtpTrustProxy,
  metricsPort,
  host,
}: Pick<Config, 'smtpTrustProxy' | 'metricsPort' | 'host'>): AsyncGenerator<Diagnosis> {
  if (smtpTrustProxy === null) return;
  const wide = rangeOfStrangers(smtpTrustProxy, WIDEST);
  if (wide !== null)
    yield warning(
      CHECK,
      `SMTP_TRUST_PROXY names ${wide}, in which strangers may have addresses: each could choose the client that SPF and the limits see, by a PROXY header.`,
      'Set it to the addresses of your balancers, such as 203.0.113.7,203.0.113.8.',
    );
  if (metricsPort === null)
    return yield skipped(
      CHECK,
      'METRICS_PORT is not set, so that the running service cannot say whether PROXY headers come.',
    );
  const text = await readMetrics(host, metricsPort);
  if (text === null) return yield skipped(CHECK, `No service answers at METRICS_PORT ${metricsPort}.`);
  const [, count = '0'] = /^posthorn_smtp_without_header_total (\d+)$/m.exec(text) ?? [];
  yield Number(count) > 0
    ? warning(
        CHECK,
        `Since its start the service has ended ${count} connections from addresses in SMTP_TRUST_PROXY, because they began without a PROXY header.`,
        'Have the balancer send the PROXY protocol (send-proxy-v2 of HAProxy), or take those addresses out of SMTP_TRUST_PROXY. The log names them.',
      )
    : fine(CHECK, 'Each connection from an address in SMTP_TRUST_PROXY began with a PROXY header.');
}
