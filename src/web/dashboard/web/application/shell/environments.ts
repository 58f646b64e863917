import type { Environment } from '../addresses.ts';

/** The words and the tint of each environment, chosen so that the two are never confused. */
export const ENVIRONMENTS = {
  test: { name: 'Test', color: 'waiting' },
  live: { name: 'Live', color: 'good' },
} as const satisfies Record<Environment, unknown>;

const STORED = 'posthorn environment';

/** The environment of the last visit. */
export const lastEnvironment = (): Environment => (localStorage.getItem(STORED) === 'live' ? 'live' : 'test');
export const rememberEnvironment = (environment: Environment): void =>
  localStorage.setItem(STORED, environment);
