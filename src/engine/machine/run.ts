import type { Arrow, MachineTable, StateRow, TransitionArguments, Work } from './table.ts';

/** The most transitions of one decision: a machine that goes round in a circle must not hold up the process. */
const MOST_TRANSITIONS = 1_000;

/** A state by its name. @throws Error for a state that the machine does not have */
export function rowOf({ id, states }: MachineTable, state: string): StateRow {
  const row = states.get(state);
  if (!row) throw new Error(`The machine "${id}" has no state "${state}".`);
  return row;
}

/** The arrow that an event takes; null when the state refuses it. */
export function arrowFor({ on, wildcards }: StateRow, given: TransitionArguments): Arrow | null {
  const { type } = given.event;
  const listed = on.get(type);
  if (listed) return firstOpen(listed, given);
  for (const { takes, arrows } of wildcards) {
    const arrow = takes(type) ? firstOpen(arrows, given) : null;
    if (arrow) return arrow;
  }
  return null;
}

function firstOpen(arrows: readonly Arrow[], given: TransitionArguments): Arrow | null {
  for (const arrow of arrows) if (arrow.guard === null || arrow.guard(given)) return arrow;
  return null;
}

/**
 * Takes an arrow, and then every step that needs no event from outside: "always" and raised events, until the
 * machine rests. Returns the state in which it rests.
 */
export function follow(table: MachineTable, from: StateRow, arrow: Arrow | null, work: Work): StateRow {
  let row = arrow ? take(table, arrow, work) : from;
  // As XState has it, "always" is not tried again after one that changed neither the state nor the context.
  let mayPass = true;
  for (let taken = 0; !row.isFinal; taken++) {
    if (taken > MOST_TRANSITIONS) throw new Error('its transitions go round in a circle');
    const before = row;
    const passing: Arrow | null = mayPass ? firstOpen(row.always, work.given) : null;
    const raised = passing ? undefined : work.raised.shift();
    if (!passing && !raised) break;
    if (raised) work.given = { context: work.given.context, event: raised };
    work.assigned = false;
    const next = passing ?? arrowFor(row, work.given);
    if (next) row = take(table, next, work);
    mayPass = !passing || work.assigned || row !== before;
  }
  return row;
}

function take(table: MachineTable, { acts, to, changes }: Arrow, work: Work): StateRow {
  if (changes) work.changed = true;
  for (const act of acts) act(work);
  return rowOf(table, to);
}
