import type { Permission } from '../auth/permissions.ts';
import type { Scope } from '../engine/result.ts';

/** A change that no commit of the engine tells of. */
export interface Noted {
  readonly scope: Scope;
  readonly resource: string;
  /** What is needed to see the resource; null for everybody in the workspace. */
  readonly permission: Permission | null;
  readonly id: string | null;
}
