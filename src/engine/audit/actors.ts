import type { AnyStateMachine } from 'xstate';
import type { BodyStore } from '../../platform/bodies/body-store.ts';
import type { Kind } from '../machine/kind.ts';
import { ACTOR_COLUMNS, definitionColumn } from '../store/actor-columns.ts';
import { storeOf } from '../store/store-of.ts';
import type { Findings } from './findings.ts';
import { journalFaults, journalsBetween } from './journals.ts';
import { mayBeRemoved, type RetentionBounds, type Session } from './session.ts';
import {
  type AuditedActor,
  insertFaults,
  isKept,
  isTimedElsewhere,
  type Marks,
  overdueBy,
  readMarks,
  snapshotFaults,
} from './snapshots.ts';

/** An audit reads this many actors at once, which bounds its memory for any size of database. */
const BATCH = 500;
/** A timer this late was forgotten; a busy service is seconds late. */
const OVERDUE_MS = 60_000;
const LAST = '~';

/** The checks of one audit share this. */
export interface Audit {
  readonly session: Session;
  readonly findings: Findings;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Only actors spawned since this moment (epoch milliseconds) are checked; 0 checks all of them. */
  readonly since: number;
  /** The rows that retention may have removed. */
  readonly removed: RetentionBounds;
  /** True when an instance is connected. Without one, due work waits for the next start. */
  readonly served: boolean;
  /** The store of large contents; null where no setting names one. */
  readonly bodies: BodyStore | null;
}

/**
 * A batch of actors, and the range of ids it covers: everything in the database between the two belongs to
 * it.
 */
export interface ActorBatch {
  readonly actors: readonly AuditedActor[];
  readonly after: string;
  readonly to: string;
}

const columnsOf = ({ derived }: Kind): string =>
  derived
    .map(({ name, type }) =>
      type === 'timestamptz' ? `, (extract(epoch from ${name}) * 1000)::float8 as ${name}` : `, ${name}`,
    )
    .join('');

const READ_COLUMNS = ACTOR_COLUMNS.map((name) =>
  name === 'wake_at' ? '(extract(epoch from wake_at) * 1000)::float8 as wake_at' : name,
).join(', ');

const statement = (kind: Kind): string => `select ${READ_COLUMNS}${columnsOf(kind)}
  ${[...kind.actorColumnsForFacts, ...definitionColumn(kind)].map((name) => `, ${name}`).join('')}
  ${storeOf(kind).keepsLeases ? ', kept_by' : ''}
from ${kind.table} where id > $1 order by id limit ${BATCH}`;

/**
 * Walks over the actors of a kind in the order of their ids and checks what holds for actors of every kind.
 */
export async function auditActors(
  audit: Audit,
  kind: Kind,
  from: string,
  further: (batch: ActorBatch) => Promise<void> = async () => {},
  machineOf: AuditedMachine = async () => null,
): Promise<void> {
  const text = statement(kind);
  const marks = await readMarks(audit.session, kind);
  for (let after = from; after !== LAST; ) {
    const actors = await audit.session.query<AuditedActor>(text, [after]);
    const to = actors.length < BATCH ? LAST : (actors.at(-1)?.id ?? LAST);
    await checkBatch(audit, kind, { actors, after, to }, { marks, machineOf });
    await further({ actors, after, to });
    after = to;
  }
}

/** The machine of a definition; null where there is none. */
export type AuditedMachine = (definitionId: string) => Promise<AnyStateMachine | null>;

async function checkBatch(
  audit: Audit,
  kind: Kind,
  { actors, after, to }: ActorBatch,
  { marks, machineOf }: { readonly marks: Marks; readonly machineOf: AuditedMachine },
): Promise<void> {
  const { session, findings, now, removed, served } = audit;
  const journals = await journalsBetween(session, kind, after, to);
  findings.look('journals', actors.length);
  findings.look('snapshots', actors.length);
  findings.look('overdue', actors.length);
  const known = new Set<string>();
  for (const actor of actors) {
    known.add(actor.id);
    for (const what of journalFaults(actor, journals.get(actor.id)))
      findings.wrong('journals', actor.id, what);
    const { definition_id: definition = null } = actor;
    const machine = definition === null ? kind.machine : await machineOf(definition);
    const faults = machine
      ? snapshotFaults(kind, machine, actor, now)
      : [`its definition ${definition} is missing`];
    for (const what of faults) findings.wrong('snapshots', actor.id, what);
    if (isKept(actor)) {
      findings.look('inserts', 1);
      for (const what of insertFaults(actor, marks)) findings.wrong('inserts', actor.id, what);
    }
    const late = overdueBy(actor, now);
    if (served && late > OVERDUE_MS && !isTimedElsewhere(kind, actor))
      findings.wrong('overdue', actor.id, `${actor.state}, due for ${Math.round(late / 1_000)} s`);
  }
  for (const id of journals.keys())
    if (!known.has(id) && !mayBeRemoved(id, removed))
      findings.wrong('journals', id, 'a journal without its actor');
}
