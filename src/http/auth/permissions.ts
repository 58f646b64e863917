/** All permissions, each with its words in the documentation. */
export const PERMISSIONS = {
  'emails:send': 'send, schedule, cancel and reschedule email',
  'emails:read': 'read the email log and delivery events',
  'contacts:read': 'read contacts and audiences',
  'contacts:write': 'create, update and import contacts and audiences',
  'domains:read': 'read sending domains',
  'domains:write': 'add, verify and remove sending domains',
  'templates:read': 'read templates',
  'templates:write': 'create and edit templates',
  'campaigns:read': 'read campaigns and flows',
  'campaigns:write': 'create and send campaigns and flows',
  'webhooks:read': 'read webhook endpoints',
  'webhooks:write': 'register, edit and rotate webhook endpoints',
  'api-keys:read': 'read API keys',
  'api-keys:write': 'create, update and revoke API keys',
  'billing:read': 'read plan and usage',
  'billing:write': 'start checkout and open the billing portal',
  'workspace:write': 'change workspace settings, including the default sender',
  'members:write': 'invite and remove members and change their roles',
  '*': 'everything, future permissions included',
} as const;

/** The name of a permission. */
export type Permission = keyof typeof PERMISSIONS;

/** All permissions, in the order of the documentation. */
export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as readonly Permission[];

/** True when a holder of `held` may do what `needed` guards; `*` guards and allows everything. */
export const holds = (held: readonly Permission[], needed: Permission): boolean =>
  held.includes('*') || held.includes(needed);
