import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { rarely } from '../../../platform/telemetry/rarely.ts';
import { NoProxyHeader } from './proxied-socket.ts';

/** The means by which a port says that a connection broke. */
export interface BrokenConnectionParts {
  readonly logger: Logger;
  readonly monotonic: () => number;
  readonly metrics: Pick<Metrics, 'smtpWithoutHeader'> | null;
}

/**
 * Logs errors of single connections. Those of a balancer without a header are warnings: all its clients are
 * turned away.
 */
export function brokenConnections(
  port: 'inbound' | 'submission',
  { logger, monotonic, metrics }: BrokenConnectionParts,
): (error: Error) => void {
  const warn = rarely(logger, monotonic);
  return (error) => {
    if (!(error instanceof NoProxyHeader))
      return logger.debug({ err: error }, `A connection to the ${port} port broke.`);
    metrics?.smtpWithoutHeader();
    warn({ port }, `${error.message} Have the balancer send it, or take the address out of that setting.`);
  };
}
