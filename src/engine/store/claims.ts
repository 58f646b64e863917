import type { Database } from '../../platform/db/database.ts';
import { forEachGroup, type Shards } from '../../platform/db/distribution/shards.ts';
import type { Kind } from '../machine/kind.ts';
import type { ActorRow } from './actors.ts';
import { claimLivesStatement } from './statements/life-statements.ts';
import {
  claimDueStatement,
  claimSeenStatement,
  findDueStatement,
  lookDueStatement,
} from './statements/read-statements.ts';
import type { WakeWriting } from './statements/wake-at.ts';

/** An actor that was claimed: whole, or its id alone where its life is appended. */
export type Claimed = Pick<ActorRow, 'id'> & Partial<ActorRow> & { readonly due_at: number };

/** What is due between two moments (ISO), at most so many. */
interface Wanted {
  readonly from: string;
  readonly until: string;
  readonly limit: number;
}

/** The moment (ISO) that it is due again if nobody does anything about it. */
interface WantedForOneself extends Wanted {
  readonly again: string;
}

interface Seen {
  readonly id: string;
  readonly workspace_id: string;
  readonly seen: string;
  readonly due_at: number;
}

/**
 * Finds what is due of one kind, and claims it where somebody else might wake it as well. On one server a statement claims, and passes over
 * what others have locked. Over several nodes nothing can be locked at once: what is due is looked at first, and then claimed shard by
 * shard, as far as it is still due when it was seen to be.
 */
export class Claims {
  readonly #find: string;
  readonly #claim: string;
  readonly #look: string;
  readonly #claimSeen: string;

  constructor(
    kind: Kind,
    wake: WakeWriting,
    where: string | undefined,
    private readonly database: Pick<Database, 'query'>,
    private readonly shards: Shards | null,
  ) {
    this.#find = findDueStatement(kind, where);
    this.#claim = (kind.life ? claimLivesStatement : claimDueStatement)(kind, wake, where);
    this.#look = lookDueStatement(kind, where);
    this.#claimSeen = claimSeenStatement(kind, wake);
  }

  /** What is due, for whoever need share it with nobody. @throws Unavailable */
  find({ from, until, limit }: Wanted): Promise<readonly Claimed[]> {
    return this.database.query<Claimed>(this.#find, [until, limit, from], { name: 'claim' });
  }

  /** What is due, for nobody else as long as it is not due again. @throws Unavailable */
  async claim({ from, until, limit, again }: WantedForOneself): Promise<readonly Claimed[]> {
    const name = 'claim';
    if (!this.shards) return this.database.query<Claimed>(this.#claim, [until, limit, again, from], { name });
    const seen = await this.database.query<Seen>(this.#look, [until, limit, from], { name });
    const groups = await this.shards.groups(seen, ({ workspace_id }) => workspace_id);
    const claimed = await forEachGroup(groups, (group) =>
      this.database.query<Omit<Claimed, 'due_at'> & Pick<ActorRow, 'id'>>(
        this.#claimSeen,
        [
          ...[group.map(({ id }) => id), group.map((each) => each.seen), again],
          [...new Set(group.map(({ workspace_id }) => workspace_id))],
        ],
        { name },
      ),
    );
    const dueAt = new Map(seen.map(({ id, due_at }) => [id, due_at]));
    return claimed.flat().map((row) => ({ ...row, due_at: dueAt.get(row.id) ?? 0 }));
  }
}
