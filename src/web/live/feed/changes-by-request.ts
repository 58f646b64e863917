import type { Permission } from '../../../http/auth/permissions.ts';
import type { ChangeNote } from '../../../http/module.ts';
import type { ChangeByRequest } from '../../../http/request/act.ts';

/**
 * The resource that an address is about: `contacts` of `/v1/contacts/:contact` and of
 * `/app/api/live/contacts`.
 */
const RESOURCE = /^(?:\/v1|\/app\/api\/(?:live|test))\/([^/]+)/;

/**
 * The changes of a request, for the pages that show them: its resource, for readers with that permission, and
 * the audit log.
 */
export function changesBy({ caller, route, targetId }: ChangeByRequest): readonly ChangeNote[] {
  const { workspaceId, livemode } = caller;
  const scope = { workspaceId, livemode };
  const log: ChangeNote = { scope, resource: 'audit-log', permission: 'members:write', id: null };
  const [, resource] = RESOURCE.exec(route.path) ?? [];
  if (resource === undefined) return [log];
  return [log, { scope, resource, permission: readingOf(String(route.permission)), id: targetId }];
}

/**
 * The reading permission of a resource, from the one that changes it: `contacts:read` of `contacts:write`.
 */
function readingOf(permission: string): Permission | null {
  const [family] = permission.split(':');
  // Resources that every member may read, such as the members themselves, need no permission.
  return family === 'members' || family === 'workspace' ? null : (`${family}:read` as Permission);
}
