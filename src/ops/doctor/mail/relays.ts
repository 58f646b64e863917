import { CIRCUIT_STATES, type CircuitState } from '../../../platform/async/circuit.ts';
import type { Config } from '../../../platform/config/config.ts';
import { type Diagnosis, fine, skipped, warning } from '../diagnosis.ts';
import { readMetrics } from '../running-service.ts';

const CHECK = 'Relays in use';

/**
 * Tells which of two relays the service on this machine leaves alone, by its metrics: what a relay answers
 * now says nothing about the mail that went past it. Null where there is one relay.
 */
export async function diagnoseRelays(
  config: Pick<Config, 'smtpFallbackUrl' | 'metricsPort' | 'host'>,
): Promise<Diagnosis | null> {
  const { smtpFallbackUrl, metricsPort, host } = config;
  if (smtpFallbackUrl === null) return null;
  if (metricsPort === null)
    return skipped(CHECK, 'METRICS_PORT is not set, so that the running service cannot be asked.');
  const text = await readMetrics(host, metricsPort);
  if (text === null) return skipped(CHECK, `No service answers at METRICS_PORT ${metricsPort}.`);
  const states = [...text.matchAll(/^posthorn_relay_state\{relay="([^"]*)"\} (\d)$/gm)].map(
    ([, relay = '', number]) => ({ relay, state: CIRCUIT_STATES[Number(number)] ?? 'closed' }),
  );
  if (states.length === 0) return skipped(CHECK, 'The service on this machine runs with one relay.');
  const detail = `${states.map(({ relay, state }) => `${relay} ${PHRASES[state]}`).join('; ')}.`;
  return states.every(({ state }) => state === 'closed')
    ? fine(CHECK, detail)
    : warning(
        CHECK,
        detail,
        'Mail leaves through a relay in use, where there is one; the evidence of an email (`explain`) contains the reply of the relay.',
      );
}

const PHRASES: Readonly<Record<CircuitState, string>> = {
  closed: 'is in use',
  halfOpen: 'is being tried again by an email',
  open: 'is left alone after failures',
  rested: 'was left alone after failures, and the next email tries it',
};
