import type { Address } from '../../../mail/address.ts';

/** What the simulator can make of a recipient; each is a local part on the simulator's domain. */
export const SIMULATED_OUTCOMES = [
  'delivered',
  'bounced',
  'bounced-transient',
  'complained',
  'opened',
  'clicked',
  'unsubscribed',
  'deferred',
  'suppressed',
] as const;

/** One of them. */
export type SimulatedOutcome = (typeof SIMULATED_OUTCOMES)[number];

const OUTCOMES: ReadonlyMap<string, SimulatedOutcome> = new Map(
  SIMULATED_OUTCOMES.map((name) => [name, name]),
);

/**
 * What happens to mail for this recipient in test mode: on the simulator's domain what the local part says (a `+label` does not
 * count), anywhere else `delivered`. Null: the simulator's domain has no such local part.
 */
export function simulatedOutcome(
  { key, domain }: Pick<Address, 'key' | 'domain'>,
  simulatorDomain: string,
): SimulatedOutcome | null {
  if (domain !== simulatorDomain) return 'delivered';
  const [name = ''] = key.slice(0, -domain.length - 1).split('+', 1);
  return OUTCOMES.get(name) ?? null;
}
