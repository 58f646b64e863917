import type { Address } from '../../../platform/text/address.ts';

/** The outcomes that the simulator knows; each is a local part on the simulator's domain. */
export const SIMULATED_OUTCOMES = [
  'delivered',
  'bounced',
  'bounced-transient',
  'complained',
  'opened',
  'clicked',
  'unsubscribed',
  'deferred',
  'expired',
  'suppressed',
] as const;

export type SimulatedOutcome = (typeof SIMULATED_OUTCOMES)[number];

/** The placeholder for the outcome of a recipient whose email has a script. */
export const SCRIPTED = 'script';

const OUTCOMES: ReadonlyMap<string, SimulatedOutcome> = new Map(
  SIMULATED_OUTCOMES.map((name) => [name, name]),
);

/**
 * The outcome of mail for this recipient in test mode. On the simulator's domain the local part names it
 * (without its `+label`); on any other domain it is `delivered`. Null when the simulator's domain has no such
 * local part.
 */
export function simulatedOutcome(
  { key, domain }: Pick<Address, 'key' | 'domain'>,
  simulatorDomain: string,
): SimulatedOutcome | null {
  if (domain !== simulatorDomain) return 'delivered';
  const [name = ''] = key.slice(0, -domain.length - 1).split('+', 1);
  return OUTCOMES.get(name) ?? null;
}
