import type { Kind } from '../machine/kind.ts';
import { storeOf } from '../store/store-of.ts';
import type { Session } from './session.ts';
import type { AuditedActor } from './snapshots.ts';

/** The low-water marks of the instances that keep actors of a kind, by the instances' ids. */
export type Marks = ReadonlyMap<number, string>;

/** Reads the marks of a kind. */
export async function readMarks(session: Session, kind: Kind): Promise<Marks> {
  if (!storeOf(kind).keepsBirths) return new Map();
  const rows = await session.query<{ id: number; low_water: string }>(
    'select id, low_water from instances where kind = $1',
    [kind.name],
  );
  return new Map(rows.map(({ id, low_water }) => [id, low_water]));
}

/** A sentence for each reason why no instance would find that birth if its own instance were gone. */
export function birthFaults({ id, kept_by }: AuditedActor, marks: Marks): string[] {
  const mark = marks.get(kept_by as number);
  if (mark === undefined) return ['has no turn and no due row, and the instance that kept it is gone'];
  return id < mark ? [`has no turn and no due row, and lies below the mark of its instance`] : [];
}
