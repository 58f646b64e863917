import type { Database } from '../../platform/db/database.ts';
import { forEachGroup, type Shards } from '../../platform/db/distribution/shards.ts';
import type { Kind } from '../machine/kind.ts';
import type { ActorRow } from '../machine/storage.ts';
import { type ActorReader, actorReader } from './actors.ts';
import type { WakeWriting } from './statements/wake-at.ts';
import { storeOf } from './store-of.ts';

/** An actor that was claimed: whole, or its id alone where the due row is another one. */
export type ClaimedActor = Pick<ActorRow, 'id'> & Partial<ActorRow> & { readonly due_at: number };

/** The range of due moments (ISO) to look for, and the limit. */
interface DueRange {
  readonly from: string;
  readonly until: string;
  readonly limit: number;
}

/** The moment (ISO) at which the actor is due again if the claim is not followed by a write. */
interface ClaimRange extends DueRange {
  readonly again: string;
}

interface DueRows {
  readonly rows: readonly ActorRow[];
  readonly missing: readonly string[];
}

interface DueActorRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly seen: string;
  readonly due_at: number;
}

/**
 * Finds the due actors of one kind, and claims them where another process might wake them as well. On one
 * server a statement claims, and skips rows that others have locked. Over several nodes one statement cannot
 * lock them all: due actors are looked at first, and then claimed shard by shard, as far as they are still
 * due at the moment seen.
 */
export class Claims {
  readonly #find: string;
  readonly #claim: string;
  readonly #holds: boolean;
  readonly #look: string;
  readonly #claimSeen: string;
  readonly #forgetStray: string | null;
  readonly #read: ActorReader;

  constructor(
    kind: Kind,
    wake: WakeWriting,
    where: string | undefined,
    private readonly database: Pick<Database, 'query'>,
    private readonly shards: Shards | null,
    private readonly epoch: () => number | null,
  ) {
    const store = storeOf(kind);
    this.#find = store.due(where);
    this.#claim = store.claim(wake, where);
    this.#holds = store.holds;
    this.#look = store.dueOnNodes(where);
    this.#claimSeen = store.claimOnNodes(wake);
    this.#forgetStray = store.forgetStray;
    this.#read = actorReader(database, kind, shards);
  }

  /** The due actors, for the only process that wakes them. @throws UnavailableError */
  find({ from, until, limit }: DueRange): Promise<readonly ClaimedActor[]> {
    return this.database.query<ClaimedActor>(this.#find, [until, limit, from], { name: 'claim' });
  }

  /** Claims due actors: no other process gets them until they are due again. @throws UnavailableError */
  async claim({ from, until, limit, again }: ClaimRange): Promise<readonly ClaimedActor[]> {
    const name = 'claim';
    if (!this.shards) {
      const parameters = [until, limit, again, from, ...(this.#holds ? [this.epoch()] : [])];
      return this.database.query<ClaimedActor>(this.#claim, parameters, { name });
    }
    const seen = await this.database.query<DueActorRow>(this.#look, [until, limit, from], { name });
    const groups = await this.shards.groups(seen, ({ workspace_id }) => workspace_id);
    const claimed = await forEachGroup(groups, (group) =>
      this.database.query<Omit<ClaimedActor, 'due_at'> & Pick<ActorRow, 'id'>>(
        this.#claimSeen,
        [
          group.map(({ id }) => id),
          group.map((each) => each.seen),
          again,
          [...new Set(group.map(({ workspace_id }) => workspace_id))],
        ],
        { name },
      ),
    );
    const dueAt = new Map(seen.map(({ id, due_at }) => [id, due_at]));
    return claimed.flat().map((row) => ({ ...row, due_at: dueAt.get(row.id) ?? 0 }));
  }

  /**
   * The rows of due actors; `missing` are the ids of those that do not exist. They are forgotten; if that
   * fails they are claimed, and found again, and keep no others from being woken. Over several nodes they
   * stay so.
   * @throws UnavailableError
   */
  async read(due: readonly ClaimedActor[]): Promise<DueRows> {
    if (this.#forgetStray === null || due.length === 0)
      return { rows: due as readonly (ClaimedActor & ActorRow)[], missing: [] };
    const workspaces = new Map(due.map(({ id, workspace_id }) => [id, workspace_id]));
    const rows = await this.#read([...workspaces.keys()], (id) => workspaces.get(id));
    if (rows.length === workspaces.size) return { rows, missing: [] };
    for (const { id } of rows) workspaces.delete(id);
    const missing = [...workspaces.keys()];
    if (!this.shards) await this.database.query(this.#forgetStray, [missing]).catch(() => {});
    return { rows, missing };
  }
}
