import { layeredLayout } from '../../engine/drawing/layered.ts';
import { type Drawing, draw } from '../../engine/drawing/moves.ts';
import type { Kind } from '../../engine/machine/kind.ts';
import type { OwnDefinitions } from '../../engine/presentation.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Machine, OwnMachine } from './model.ts';

/** The machine of a kind as the live view draws it. */
export function machineOf(kind: Kind): Machine {
  const { name, idPrefix } = kind;
  const drawing = draw(kind.machine);
  return {
    kind: name,
    idPrefix,
    drawing,
    transient: drawing.states.filter((state) => isTransient(drawing, state.name)).map((state) => state.name),
    timed: timedStates(kind),
    isExample: kind.hasDefinitions === true,
  };
}

/** Actors of one definition that are counted; of more the newest are. */
const COUNTED = 20_000;

/** The machine of a definition as the live view draws it; null when it no longer exists. */
export async function ownMachineOf(
  database: Database,
  kind: Kind,
  { machineOf: machinesOf, where }: OwnDefinitions,
  definitionId: string,
): Promise<OwnMachine | null> {
  const machine = await machinesOf(database)(definitionId);
  if (!machine) return null;
  const drawn = machineOf({ ...kind, machine });
  const rows = await database.query<{ state: string; count: number }>(
    `select state, count(*)::integer as count from (
       select a.state from ${kind.table} a where ${where} order by a.id desc limit ${COUNTED}
     ) s group by state`,
    [definitionId],
  );
  const exact = rows.reduce((sum, { count }) => sum + count, 0) < COUNTED;
  const found = new Map(rows.map(({ state, count }) => [state, count]));
  const counts = Object.fromEntries(
    drawn.drawing.states.map(({ name }) => [name, { count: found.get(name) ?? 0, exact }]),
  );
  return { ...drawn, isExample: false, layout: layeredLayout(drawn.drawing), counts };
}

/** True for a state that is left within the same step and therefore never stored. */
function isTransient({ moves }: Drawing, state: string): boolean {
  const leaving = moves.filter(({ from }) => from === state);
  return leaving.length > 0 && leaving.every(({ cause }) => cause === null);
}

/** The states whose actors always have a wake-up time: those with a finite `after`. */
export function timedStates({ machine, openEnded = [] }: Pick<Kind, 'machine' | 'openEnded'>): string[] {
  const { states, moves } = draw(machine);
  const ends = moves.filter(
    ({ cause }) => cause?.startsWith('after ') && !openEnded.includes(cause.slice(6)),
  );
  return states.map(({ name }) => name).filter((name) => ends.some(({ from }) => from === name));
}
