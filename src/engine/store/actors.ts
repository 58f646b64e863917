import { LruMap } from '../../platform/async/lru-map.ts';
import type { Database } from '../../platform/db/database.ts';
import { isDistributed } from '../../platform/db/distribution/catalogue.ts';
import { forEachGroup, type Shards } from '../../platform/db/distribution/shards.ts';
import { earliest } from '../machine/decide.ts';
import type { Deciders } from '../machine/definitions.ts';
import { type Actor, decodeState, type Kind, newer, stateOf } from '../machine/kind.ts';
import type { ActorRow } from './actor-columns.ts';
import { storeOf } from './store-of.ts';

/**
 * Reads the rows of actors by their ids; known workspaces spare a look for them where tables are distributed.
 */
export type ActorReader = (
  ids: readonly string[],
  workspaceOf?: (id: string) => string | undefined,
) => Promise<readonly ActorRow[]>;

/** Reads the rows of actors by their ids. */
export function actorReader(
  database: Pick<Database, 'query'>,
  kind: Kind,
  shards?: Shards | null,
): ActorReader {
  if (shards && isDistributed(kind.table)) return shardReader(database, kind, shards);
  const read = rowReader(database, kind, false);
  return (ids) => read(ids, []);
}

/** Reads the rows of actors of one workspace: where tables are distributed, on its node alone. */
export function ownActorReader(
  database: Pick<Database, 'query'>,
  kind: Kind,
  workspaceId: string,
): (ids: readonly string[]) => Promise<readonly ActorRow[]> {
  if (!isDistributed(kind.table)) return actorReader(database, kind);
  const read = rowReader(database, kind, true);
  return (ids) => read(ids, [workspaceId]);
}

/** Reads actors, whole; where tables are distributed those of some workspaces. */
function rowReader(database: Pick<Database, 'query'>, kind: Kind, isPlaced: boolean) {
  const store = storeOf(kind);
  const text = store.load(isPlaced);
  return async (ids: readonly string[], workspaces: readonly string[]): Promise<readonly ActorRow[]> => {
    const parameters = [...store.loadParameters(ids), ...(isPlaced ? [workspaces] : [])];
    return store.rowsOf(await database.query<object>(text, parameters));
  };
}

/** Shard by shard, since no lateral join with a limit goes over several. */
function shardReader(database: Pick<Database, 'query'>, kind: Kind, shards: Shards): ActorReader {
  const whose = storeOf(kind).whose();
  const read = rowReader(database, kind, true);
  return async (ids, workspaceOf = () => undefined) => {
    const unknown = ids.filter((id) => workspaceOf(id) === undefined);
    const found =
      unknown.length === 0
        ? []
        : await database.query<{ id: string; workspace_id: string }>(whose, [unknown]);
    const known = ids.flatMap((id) => {
      const workspace = workspaceOf(id);
      return workspace === undefined ? [] : [{ id, workspace_id: workspace }];
    });
    const groups = await shards.groups([...known, ...found], ({ workspace_id }) => workspace_id);
    const rows = await forEachGroup(groups, (group) => {
      const workspaces = [...new Set(group.map(({ workspace_id }) => workspace_id))];
      return read(
        group.map(({ id }) => id),
        workspaces,
      );
    });
    return rows.flat();
  };
}

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

  /** Keeps the newest version of an actor that something will happen to soon after `at`; any other is let go. */
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
