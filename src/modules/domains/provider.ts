import { type Failure, invalid } from '../../http/failure.ts';
import type { EnabledTransports, Transport } from '../../transport/transport.ts';

/** The way that a request chooses, which must be enabled here; null for the default one. */
export function readProvider(
  wanted: string | null,
  ways: EnabledTransports,
): Transport['name'] | null | Failure {
  const way = ways.find((name) => name === wanted);
  if (way !== undefined || wanted === null) return way ?? null;
  const message = `Choose one of the transports that are enabled here: ${ways.join(', ')}.`;
  return invalid([{ path: '/body/provider', message }]);
}
