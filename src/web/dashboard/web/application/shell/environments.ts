import type { Environment } from '../api/session.ts';

/** The words and the tint of each environment, chosen so that the two are never confused. */
export const ENVIRONMENTS = {
  test: { name: 'Test', color: 'waiting' },
  live: { name: 'Live', color: 'good' },
} as const satisfies Record<Environment, unknown>;

const STORED = 'posthorn environment';

/** The environment of an address: `/app/test/emails`; null where it names none. */
export const environmentOf = (path: string): Environment | null =>
  path === '/app/live' || path.startsWith('/app/live/')
    ? 'live'
    : path === '/app/test' || path.startsWith('/app/test/')
      ? 'test'
      : null;

/** The environment of the last visit. */
export const lastEnvironment = (): Environment => (localStorage.getItem(STORED) === 'live' ? 'live' : 'test');
export const rememberEnvironment = (environment: Environment): void =>
  localStorage.setItem(STORED, environment);
