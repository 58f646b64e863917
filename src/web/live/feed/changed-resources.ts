import type { Scope } from '../../../engine/machine/result.ts';
import { holds, type Permission } from '../../../http/auth/permissions.ts';
import type { ChangeNote } from '../../../http/module.ts';
import type { ChangeMessage } from '../model.ts';

/** Ids of one resource that a message names; of more it says only that there were some. */
export const MOST_IDS = 50;

/** A connection that follows what changes in one environment. */
export interface Follower {
  readonly scope: Scope;
  /** The permissions that the follower has now. */
  readonly permissions: readonly Permission[];
  tell(message: ChangeMessage): void;
}

interface ChangedIds {
  readonly permission: Permission | null;
  readonly ids: Set<string>;
  /** True once more ids have changed than are named, or one is not known. */
  isBeyond: boolean;
}

/**
 * The resources of one environment that have changed since the last message. Its memory is bounded by the
 * resources and the ids that a message names.
 */
export class ChangedResources {
  readonly #changed = new Map<string, ChangedIds>();

  note({ resource, permission, id }: Omit<ChangeNote, 'scope'>): void {
    const known = this.#changed.get(resource) ?? { permission, ids: new Set<string>(), isBeyond: false };
    this.#changed.set(resource, known);
    if (id === null || (known.ids.size >= MOST_IDS && !known.ids.has(id))) known.isBeyond = true;
    else known.ids.add(id);
  }

  /** The message for a follower, limited to its permissions; null when nothing is left. */
  messageFor({ permissions }: Follower): ChangeMessage | null {
    const seen = [...this.#changed].filter(
      ([, { permission }]) => permission === null || holds(permissions, permission),
    );
    if (seen.length === 0) return null;
    const changed = seen.map(
      ([resource, { ids, isBeyond }]) => [resource, isBeyond ? null : [...ids]] as const,
    );
    return { type: 'changes', changed: Object.fromEntries(changed) };
  }

  clear(): void {
    this.#changed.clear();
  }
}
