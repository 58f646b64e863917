import type { Database } from '../../platform/db/database.ts';
import type { Duty } from './duty.ts';

/**
 * The run of a duty that an idle service need not repeat: the embedded database has no other writers, and all
 * that a command writes there goes through this process. `run` answers true where it has left nothing to do;
 * one that fails is repeated.
 */
export function afterWork(
  database: Pick<Database, 'kind' | 'worked'>,
  run: (stop?: AbortSignal) => Promise<boolean>,
): Duty['run'] {
  /** The count of what this process had done when nothing was left. */
  let quietAt = -1;
  return async (stop) => {
    const { kind, worked } = database;
    if (kind === 'embedded' && worked === quietAt) return;
    if (await run(stop)) quietAt = worked;
  };
}
