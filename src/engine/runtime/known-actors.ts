import { LruMap } from '../../platform/async/lru-map.ts';
import { earliest } from '../machine/decide.ts';
import type { Deciders } from '../machine/definitions.ts';
import type { PendingEvent } from '../machine/fold.ts';
import { type Actor, decodeState, type Kind, newer, stateOf } from '../machine/kind.ts';
import type { ActorRow } from '../machine/storage.ts';

/** The events of a batch, by the ids of their actors. */
export type ByActor = ReadonlyMap<string, readonly PendingEvent[]>;

/**
 * Rows that came with their events and need no reading: where the actor has no other event in the batch,
 * whose refusal would rest on an old row, and nothing newer is kept. One that lost its race is read again,
 * and then refuses the event.
 */
export function rowsTold(
  byActor: ByActor,
  kept: ReadonlyMap<string, Actor | undefined>,
): ReadonlyMap<string, ActorRow> {
  const rows = new Map<string, ActorRow>();
  for (const [id, [event, ...others]] of byActor)
    if (event?.read && event.decisions === 0 && others.length === 0)
      if ((kept.get(id)?.revision ?? 0) <= event.read.revision) rows.set(id, event.read);
  return rows;
}

/** The workspace of an actor, if one of its events names it. */
export const workspaceTold = (events: readonly PendingEvent[] | undefined): string | undefined =>
  events
    ?.map(({ scope, workspaceId }) => workspaceId ?? scope?.workspaceId)
    .find((each) => each !== undefined);

/** The definitions of all actors of a batch. */
export const definitionsOf = (
  kept: ReadonlyMap<string, Actor | undefined>,
  read: ReadonlyMap<string, ActorRow>,
  loaded: ReadonlyMap<string, ActorRow>,
): readonly (string | null | undefined)[] => [
  ...[...kept.values()].map((actor) => actor?.definitionId),
  ...[...read.values(), ...loaded.values()].map((row) => row.definition_id),
];

/** Actors kept between two events of theirs; a plain delivery's second event then needs no read. */
const KEPT = 20_000;
/** An actor that waits longer than this for its next timer is read again when it is due. */
const WORTH_KEEPING_MS = 60_000;

/** Rebuilds actors from rows and keeps the latest of them, bounded: the oldest one goes first. */
export class Actors {
  readonly #kept: LruMap<string, Actor>;

  constructor(
    private readonly kind: Kind,
    kept = KEPT,
  ) {
    this.#kept = new LruMap({ entries: kept });
  }

  /** @throws UnavailableError when a newer version has written the row, or its definition is missing */
  restore(row: ActorRow, deciders: Deciders): Actor {
    if (row.machine_version > this.kind.version)
      throw newer(`version ${row.machine_version} of ${this.kind.name}`);
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

  /**
   * Keeps the newest version of an actor that something will happen to soon after `at`; any other is let go.
   */
  keep(actor: Actor, at: number): void {
    this.#kept.delete(actor.id);
    const next = earliest(actor.timers);
    const isUnderWay = this.kind.underWay?.includes(stateOf(actor.snapshot)) ?? false;
    if (next === null || (next > at + WORTH_KEEPING_MS && !isUnderWay)) return;
    this.#kept.set(actor.id, actor);
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }
}
