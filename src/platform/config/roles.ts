/** The roles of a process. */
export const ROLES = ['http', 'engine', 'delivery'] as const;
export type Role = (typeof ROLES)[number];

/** The roles of a process, each once, one at least. */
export type Roles = readonly Role[];

/** The work that stays undone while no process has a role, in an operator's words. */
export const UNDONE_WITHOUT: Readonly<Record<Role, string>> = {
  http: 'no process answers requests',
  engine: 'no process runs duties, timers, flows and webhooks',
  delivery: 'no process delivers live email',
};

/** True of a process that does everything. */
export const isWhole = (roles: Roles): boolean => ROLES.every((role) => roles.includes(role));

/**
 * True of a process that only answers requests: by itself it lets people look through what is there, and
 * nothing leaves.
 */
export const isReviewing = (roles: Roles): boolean => roles.length === 1 && roles[0] === 'http';

/** The number of living instances with each role. */
export type RoleCounts = Readonly<Record<Role, number>>;

/** An instance, as far as it is known here. */
export interface KnownInstance {
  readonly roles: readonly string[];
}

export function countedByRole(instances: readonly KnownInstance[]): RoleCounts {
  const count = (role: Role): number => instances.filter(({ roles }) => roles.includes(role)).length;
  return { http: count('http'), engine: count('engine'), delivery: count('delivery') };
}

/** True when some of them leaves to others what it begins. */
export const leaveWork = (instances: readonly KnownInstance[]): boolean =>
  instances.some(({ roles }) => ROLES.some((role) => !roles.includes(role)));

/** True when some of them wakes what is due. Those that only answer requests do not. */
export const wakeTimers = (instances: readonly KnownInstance[]): boolean =>
  instances.some(({ roles }) => roles.some((role) => role !== 'http'));
