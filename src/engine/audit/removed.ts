import { timeOfId } from '../../platform/db/ids.ts';
import type { Session } from './session.ts';

/** The moments (epoch ms) before which retention may have removed data, by environment; 0 where it never has. */
export interface RetentionBounds {
  readonly test: number;
  readonly live: number;
}

const MARKS = `select livemode, (extract(epoch from removed_before) * 1000)::float8 as before from retention`;

/**
 * Reads retention's records before its removals, so that a session never sees a gap that this does not
 * explain.
 */
export async function readRemoved(session: Session): Promise<RetentionBounds> {
  const rows = await session.query<{ livemode: boolean; before: number }>(MARKS);
  const of = (livemode: boolean) => rows.find((row) => row.livemode === livemode)?.before ?? 0;
  return { test: of(false), live: of(true) };
}

/** True when retention may have removed what has that id, in whichever environment, but not yet all that refers to it. */
export const mayBeRemoved = (id: string, { test, live }: RetentionBounds): boolean =>
  timeOfId(id) < Math.max(test, live);
