/** Live holds real keys and mail; email of test never leaves the service. */
export type Environment = 'test' | 'live';

/** An address of the application: `/app/ws_1/live/emails`. */
export interface Address {
  /** Null where it names none, as addresses of former versions do. */
  readonly workspaceId: string | null;
  readonly environment: Environment | null;
  /** The address within the environment: `/emails/em_1`; empty for the overview. */
  readonly rest: string;
}

const ADDRESS = /^\/app(?:\/(ws_[0-9a-z]+))?(?:\/(test|live))?(\/.*)?$/;
const ELSEWHERE: Address = { workspaceId: null, environment: null, rest: '' };

/** The parts of a path. */
export function readAddress(path: string): Address {
  const match = ADDRESS.exec(path);
  if (!match) return ELSEWHERE;
  const [, workspaceId = null, environment = null, rest = ''] = match;
  return {
    workspaceId,
    environment: environment as Environment | null,
    // Without an environment there are no pages beneath.
    rest: environment === null || rest === '/' ? '' : rest,
  };
}

/** The address of the overview. A guest has one workspace, which no address names. */
export const baseOf = (workspaceId: string | null, environment: Environment): string =>
  workspaceId === null ? `/app/${environment}` : `/app/${workspaceId}/${environment}`;

const STORED_WORKSPACE = 'posthorn workspace';

/** The workspace of the last visit; null for none. */
export const lastWorkspace = (): string | null => localStorage.getItem(STORED_WORKSPACE);
export const rememberWorkspace = (id: string): void => localStorage.setItem(STORED_WORKSPACE, id);
export const forgetWorkspace = (): void => localStorage.removeItem(STORED_WORKSPACE);

/** The words and the tint of each environment, chosen so that the two are never confused. */
export const ENVIRONMENTS = {
  test: { name: 'Test', color: 'waiting' },
  live: { name: 'Live', color: 'good' },
} as const satisfies Record<Environment, unknown>;

const STORED_ENVIRONMENT = 'posthorn environment';

/** The environment of the last visit. */
export const lastEnvironment = (): Environment =>
  localStorage.getItem(STORED_ENVIRONMENT) === 'live' ? 'live' : 'test';
export const rememberEnvironment = (environment: Environment): void =>
  localStorage.setItem(STORED_ENVIRONMENT, environment);

/** The address with its workspace and environment, for one that names none or only the environment. */
export function wholeAddress(path: string, workspaceId: string): string {
  const { environment, rest } = readAddress(path);
  return baseOf(workspaceId, environment ?? lastEnvironment()) + rest;
}
