import type { Permission } from '../../http/auth/permissions.ts';
import type { Noted } from '../../http/module.ts';
import type { ChangeByRequest } from '../../http/request/act.ts';

/** The resource that an address is about: `contacts` of `/v1/contacts/:contact` and of `/app/api/live/contacts`. */
const RESOURCE = /^(?:\/v1|\/app\/api\/(?:live|test))\/([^/]+)/;

/** What a request has changed, for the pages that show it: its own resource, to whoever may read that, and the audit log. */
export function changesBy({ caller, route, targetId }: ChangeByRequest): readonly Noted[] {
  const { workspaceId, livemode } = caller;
  const scope = { workspaceId, livemode };
  const log: Noted = { scope, resource: 'audit-log', permission: 'members:write', id: null };
  const [, resource] = RESOURCE.exec(route.path) ?? [];
  if (resource === undefined) return [log];
  return [log, { scope, resource, permission: readingOf(String(route.permission)), id: targetId }];
}

/** What reading takes where changing takes this: `contacts:read` of `contacts:write`. */
function readingOf(permission: string): Permission | null {
  const [family] = permission.split(':');
  // Of what everybody in the workspace may read, such as its members, nothing is asked.
  return family === 'members' || family === 'workspace' ? null : (`${family}:read` as Permission);
}
