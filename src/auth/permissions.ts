import { Failure } from '../http/failure.ts';

/** What a key may be allowed to do, each with the sentence that the documentation gives it. */
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

/** One of the nineteen permission strings. */
export type Permission = keyof typeof PERMISSIONS;

/** The permission strings, in the order of the documentation. */
export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as readonly Permission[];

/** Whether a holder of `held` may do what `needed` guards. */
export const holds = (held: readonly Permission[], needed: Permission): boolean =>
  held.includes('*') || held.includes(needed);

/** The refusal of a key that lacks a permission: it names the permission and says how to get it. */
export const lacking = (needed: Permission): Failure =>
  new Failure('FORBIDDEN', `This API key lacks the permission ${needed}.`, {
    suggestion: `Use a key that holds ${needed} (it allows to ${PERMISSIONS[needed]}), or add ${needed} to this key with PATCH /v1/api-keys/{id}.`,
  });
