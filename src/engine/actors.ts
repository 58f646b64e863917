import type { Database } from '../db/database.ts';
import { earliest } from './decide.ts';
import type { Deciders } from './definitions.ts';
import { type Actor, decodeState, type Kind, stateOf } from './kind.ts';
import { readLivesParameters, readLivesStatement } from './life-statements.ts';
import { loadStatement } from './read-statements.ts';

/** A row as the load, claim and spawn statements answer it. */
export interface ActorRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly state: string;
  readonly context: unknown;
  readonly timers: Readonly<Record<string, number>> | null;
  readonly revision: number;
  readonly machine_version: number;
  /** Of kinds that have definitions. */
  readonly definition_id?: string | null;
}

/** Reads the rows of actors by their ids. */
export function actorReader(
  database: Pick<Database, 'query'>,
  kind: Kind,
): (ids: readonly string[]) => Promise<readonly ActorRow[]> {
  if (!kind.life) {
    const text = loadStatement(kind);
    return (ids) => database.query<ActorRow>(text, [ids]);
  }
  const text = readLivesStatement(kind);
  return (ids) => database.query<ActorRow>(text, readLivesParameters(ids));
}

/** Actors kept between two events of theirs; a plain delivery's second event then needs no read. */
const KEPT = 20_000;
/** Who waits longer than this for its next timer is read again when it is due. */
const WORTH_KEEPING_MS = 60_000;

/** Rebuilds actors from rows and keeps the latest of them, bounded: the oldest one goes first. */
export class Actors {
  readonly #kept = new Map<string, Actor>();

  constructor(
    private readonly kind: Kind,
    private readonly kept = KEPT,
  ) {}

  /** @throws Unavailable when a newer version has written the row, or its definition is missing */
  restore(row: ActorRow, deciders: Deciders): Actor {
    const definitionId = row.definition_id ?? undefined;
    const decider = deciders.of(definitionId);
    return {
      id: row.id,
      workspaceId: row.workspace_id,
      livemode: row.livemode,
      snapshot: decider.restore(
        decodeState(definitionId === undefined ? this.kind : decider, row.state),
        row.context,
      ),
      revision: row.revision,
      timers: row.timers ?? {},
      ...(definitionId === undefined ? {} : { definitionId }),
    };
  }

  get(id: string): Actor | undefined {
    return this.#kept.get(id);
  }

  /** Keeps the newest version of an actor that something will happen to soon after `at`; any other is let go. */
  keep(actor: Actor, at: number): void {
    this.#kept.delete(actor.id);
    const next = earliest(actor.timers);
    const isUnderWay = this.kind.underWay?.includes(stateOf(actor.snapshot)) ?? false;
    if (next === null || (next > at + WORTH_KEEPING_MS && !isUnderWay)) return;
    if (this.#kept.size >= this.kept) {
      const oldest = this.#kept.keys().next().value;
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    if (this.kept > 0) this.#kept.set(actor.id, actor);
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }
}
