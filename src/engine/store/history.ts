import type { Database } from '../../platform/db/database.ts';
import type { Step } from '../machine/decide.ts';
import type { Kind } from '../machine/kind.ts';
import type { Scope } from '../machine/result.ts';
import { ownActorReader } from './actors.ts';
import { storeOf } from './store-of.ts';

/** One step of a life, and the write it was part of. */
export interface HistoryEntry extends Step {
  readonly revision: number;
}

/** An actor, by its row and its journal. */
export interface ActorHistory {
  readonly id: string;
  readonly state: string;
  readonly context: unknown;
  /** The definition whose machine it runs; none: the kind's own machine. */
  readonly definitionId: string | null;
  readonly revision: number;
  /** XState's id of each pending timer → due moment (epoch ms). */
  readonly timers: Readonly<Record<string, number>>;
  /** Oldest first. */
  readonly steps: readonly HistoryEntry[];
  /** Older writes than these exist, or retention has dropped them. */
  readonly truncated: boolean;
}

/** Writes read of one journal; an email has about four, only an endpoint may have thousands. */
const MOST_WRITES = 500;

/** Reads the life of one actor within a scope; null when there is none. @throws UnavailableError */
export async function readLife(
  database: Database,
  kind: Kind,
  id: string,
  { workspaceId, livemode }: Scope,
): Promise<ActorHistory | null> {
  // The row first: a journal read later can only be newer, and what is newer is cut off below.
  const [row] = await ownActorReader(database, kind, workspaceId)([id]);
  if (!row || row.workspace_id !== workspaceId || row.livemode !== livemode) return null;
  const { sql, parameters } = storeOf(kind).history(row, MOST_WRITES);
  const writes = await database.query<{ revision: number; steps: Step[] }>(sql, parameters);
  writes.reverse();
  const { state, context, revision, definition_id: definitionId = null } = row;
  return {
    ...{ id, state, context, revision, definitionId },
    timers: row.timers ?? {},
    steps: writes.flatMap(({ revision, steps }) => steps.map((step) => ({ ...step, revision }))),
    truncated: writes[0]?.revision !== 1,
  };
}
