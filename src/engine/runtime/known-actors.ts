import type { PendingEvent } from '../machine/fold.ts';
import type { Actor } from '../machine/kind.ts';
import type { ActorRow } from '../store/actor-columns.ts';

/** The events of a batch, by the ids of their actors. */
export type ByActor = ReadonlyMap<string, readonly PendingEvent[]>;

/**
 * Rows that came with their events and need no reading: where the actor has no other event in the batch, whose refusal would
 * rest on an old row, and nothing newer is kept. One that lost its race is read again, and then refuses the event.
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
