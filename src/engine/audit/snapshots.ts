import type { AnyStateMachine } from 'xstate';
import { earliest } from '../machine/decide.ts';
import type { Kind } from '../machine/kind.ts';
import { orderAmongTimers } from '../machine/share.ts';
import type { ActorRow } from '../machine/storage.ts';
import { storeOf } from '../store/store-of.ts';
import type { Session } from './session.ts';

/** An actor's row as the audit reads it; times are epoch milliseconds. */
export interface AuditedActor extends ActorRow {
  readonly wake_at: number | null;
  /** For a new actor: the instance that holds it until its second write. */
  readonly kept_by?: number | null;
  readonly [derived: string]: unknown;
}

/** True for an actor without a due row and a second write: an instance has to hold it. */
export const isKept = ({ kept_by, wake_at, revision }: AuditedActor): boolean =>
  kept_by != null && wake_at === null && revision === 1;

/** A claim moves wake_at ahead by seconds; nothing moves it ahead this far. */
const CLAIMED_AHEAD_MS = 60_000;

/** The ids of the timers that an actor in this state must have: of a wait without end none is stored. */
const timersOf = (machine: AnyStateMachine, state: string, context: unknown): readonly string[] => [
  ...new Set(
    machine.states[state]?.after
      .filter(({ delay }) => waitOf(machine, delay, context) !== Number.POSITIVE_INFINITY)
      .map(({ eventType }) => eventType),
  ),
];

function waitOf(machine: AnyStateMachine, delay: unknown, context: unknown): unknown {
  const delays = machine.implementations.delays as Readonly<Record<string, unknown>>;
  const meant = typeof delay === 'string' ? delays[delay] : delay;
  return typeof meant === 'function' ? meant({ context, event: { type: 'audited' } }, undefined) : meant;
}

/** Compares a row with its snapshot: a sentence for each fault. `machine` is the one that the actor runs. */
export function snapshotFaults(
  kind: Kind,
  machine: AnyStateMachine,
  actor: AuditedActor,
  now: number,
): string[] {
  const faults: string[] = [];
  if (!(actor.state in machine.states)) return [`the machine has no state ${actor.state}`];
  if (actor.machine_version > kind.version) faults.push(`version ${actor.machine_version} is not known here`);
  const timers = actor.timers ?? {};
  const needed = timersOf(machine, actor.state, actor.context);
  for (const id of needed) if (!(id in timers)) faults.push(`${actor.state} without its timer ${id}`);
  for (const id of Object.keys(timers))
    if (!needed.includes(id) && orderAmongTimers(id) === null)
      faults.push(`${actor.state} with the timer ${id}`);
  const due = earliest(timers);
  if (due === null && actor.wake_at !== null) faults.push('wakes for no timer');
  // actors.ts examines actors that an instance holds instead of the clock.
  if (due !== null && !isKept(actor) && !isTimedElsewhere(kind, actor) && !wakesFor(due, actor.wake_at, now))
    faults.push('does not wake for its timer');
  for (const { name, type, of } of kind.derived) {
    const expected = comparable(type, of(actor.context as never, actor.state));
    if (expected !== comparable(type, actor[name])) faults.push(`${name} is not that of the snapshot`);
  }
  return faults;
}

/** True for an actor that lives by a test clock, which no clock of the service wakes. */
export const isTimedElsewhere = (kind: Kind, { context }: Pick<AuditedActor, 'context'>): boolean =>
  kind.hasOwnTime?.(context) === true;

const wakesFor = (due: number, wakeAt: number | null, now: number): boolean =>
  wakeAt !== null && wakeAt >= due - 1 && wakeAt <= Math.max(due, now + CLAIMED_AHEAD_MS);

const comparable = (type: string, value: unknown): string | number | null => {
  if (value === null || value === undefined) return null;
  if (type !== 'timestamptz') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  return typeof value === 'number' ? Math.round(value) : Date.parse(String(value));
};

/** The time since an actor's earliest timer came due (ms); negative before that. */
export const overdueBy = ({ timers }: AuditedActor, now: number): number =>
  now - (earliest(timers ?? {}) ?? Number.POSITIVE_INFINITY);

/** The low-water marks of the instances that keep actors of a kind, by the instances' ids. */
export type Marks = ReadonlyMap<number, string>;

export async function readMarks(session: Session, kind: Kind): Promise<Marks> {
  if (!storeOf(kind).keepsLeases) return new Map();
  const rows = await session.query<{ id: number; low_water: string }>(
    'select id, low_water from instances where kind = $1',
    [kind.name],
  );
  return new Map(rows.map(({ id, low_water }) => [id, low_water]));
}

/** A sentence for each reason why no instance would find that actor if its own instance were gone. */
export function insertFaults({ id, kept_by }: AuditedActor, marks: Marks): string[] {
  const mark = marks.get(kept_by as number);
  if (mark === undefined) return ['has no turn and no due row, and the instance that kept it is gone'];
  return id < mark ? [`has no turn and no due row, and lies below the mark of its instance`] : [];
}
