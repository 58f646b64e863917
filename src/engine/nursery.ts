import { codeOf } from '../db/sqlstate.ts';
import { Unavailable } from '../db/unavailable.ts';
import type { Actors } from './actors.ts';
import { commitBatch } from './commit.ts';
import type { Decider } from './decide.ts';
import { type Kind, stateOf } from './kind.ts';
import { Lane } from './lane.ts';
import type { MailboxSurroundings } from './mailbox.ts';
import { readBackStatement, spawnStatement } from './statements.ts';
import { REPLY_KEPT_MS, storedReplies } from './stored-replies.ts';
import { type Draft, draftSpawn, factLists, machineColumns, mailList } from './tell-batch.ts';
import type { Claim, Spawned } from './told.ts';

/** No ceiling: what `integer` holds. */
export const UNLIMITED = 2_147_483_647;

/** A period's units that a spawn takes, and how many there are of them. */
export interface Meter {
  readonly period: string;
  readonly ceiling: number;
}

/** A new actor to be. */
export interface Birth {
  readonly id?: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  /** The machine's input. */
  readonly input: unknown;
  /** The kind's spawn columns. */
  readonly columns: Readonly<Record<string, unknown>>;
  readonly meter?: Meter | undefined;
  readonly claim?: Claim | undefined;
  /** Handed to the performer of the first order, so that it need not read what was just written. */
  readonly payload?: unknown;
  /** About how many bytes its row takes in the statement. */
  readonly bytes?: number;
}

interface Expecting {
  readonly birth: Birth;
  readonly draft: Draft;
  readonly settle: (spawned: Spawned) => void;
  readonly fail: (error: unknown) => void;
  tries: number;
}

interface NotAdmitted {
  readonly ord: number;
  readonly fingerprint: string | null;
  readonly status: number;
  readonly reply: string;
  readonly stored_at: number;
}

const MAX_TRIES = 5;

/** New actors of one kind: decided, admitted and written in batches, answered. */
export class Nursery {
  readonly #lane: Lane<Expecting>;
  readonly #sql: string;
  readonly #readBackSql: string;

  constructor(
    private readonly kind: Kind,
    private readonly decider: Decider,
    private readonly actors: Actors,
    private readonly around: MailboxSurroundings,
  ) {
    this.#lane = new Lane(`new ${kind.name}`, (batch) => this.#work(batch));
    this.#sql = spawnStatement(kind);
    this.#readBackSql = readBackStatement(kind);
  }

  /**
   * Settles once the actor is durable, or was not admitted.
   * @throws Unavailable when the queue is full or the database away; the driver's error when a constraint refuses it.
   */
  spawn(birth: Birth): Promise<Spawned> {
    const draft: Draft = {
      ...draftSpawn(this.kind, this.decider, birth, this.around.clock.now()),
      claim: birth.claim ?? null,
      payload: birth.payload,
    };
    return new Promise((settle, fail) => {
      this.#lane.push({ birth, draft, settle, fail, tries: 0 }, birth.bytes ?? 1_024);
    });
  }

  get waiting(): number {
    return this.#lane.waiting;
  }

  drained(): Promise<void> {
    return this.#lane.drained();
  }

  async #work(batch: readonly Expecting[]): Promise<void> {
    const tag = this.around.tags.next();
    const verdicts = await commitBatch<Expecting, Spawned | 'again'>(
      { run: (items) => this.#run(items, tag), readBack: (items) => this.#readBack(items) },
      batch,
    );
    const committed: Draft[] = [];
    const again: Expecting[] = [];
    batch.forEach((expecting, index) => {
      const verdict = verdicts[index];
      if (!verdict) return;
      if ('committed' in verdict) {
        if (verdict.committed === 'again') again.push(expecting);
        else {
          if (verdict.committed.outcome === 'spawned') {
            this.actors.keep(expecting.draft.after, this.around.clock.now());
            committed.push(expecting.draft);
          }
          expecting.settle(verdict.committed);
        }
      } else if ('poisoned' in verdict) {
        // Another instance took the idempotency key since our snapshot: the next try finds its reply.
        if (codeOf(verdict.poisoned) === '23505' && expecting.birth.claim && expecting.tries < MAX_TRIES) again.push(expecting);
        else expecting.fail(verdict.poisoned);
      } else expecting.fail(verdict.failed);
    });
    if (committed.length > 0) this.around.committed(committed);
    for (const expecting of again)
      if (++expecting.tries > MAX_TRIES) expecting.fail(new Unavailable('The idempotency key is contended.'));
    const retry = again.filter(({ tries }) => tries <= MAX_TRIES);
    if (retry.length > 0) this.#lane.unshift(retry);
  }

  async #run(items: readonly Expecting[], tag: number): Promise<readonly (Spawned | 'again')[]> {
    const drafts = items.map(({ draft }) => draft);
    const rows = await this.around.database.query<NotAdmitted>(this.#sql, [
      `[${items.map((item, ord) => this.#inputRow(item, ord)).join(',')}]`,
      this.kind.version,
      tag,
      mailList(drafts),
      ...factLists(this.kind, drafts),
    ]);
    const results: (Spawned | 'again')[] = items.map(({ draft }) => spawned(draft));
    for (const row of rows) results[row.ord] = await this.#notAdmitted(items[row.ord] as Expecting, row);
    return results;
  }

  #inputRow({ birth, draft }: Expecting, ord: number): string {
    const { claim, meter } = birth;
    const at = draft.steps[0]?.at ?? 0;
    return JSON.stringify({
      ord,
      ...machineColumns(this.kind, draft),
      workspace_id: birth.workspaceId,
      livemode: birth.livemode,
      ...birth.columns,
      ...(meter ? { period: meter.period, ceiling: meter.ceiling } : {}),
      ...(claim
        ? {
            idem_key: claim.key,
            idem_livemode: claim.scope.livemode,
            idem_fingerprint: claim.fingerprint,
            idem_status: claim.status,
            idem_reply: claim.reply(stateOf(draft.after.snapshot), draft.after.snapshot.context),
            idem_at: new Date(at).toISOString(),
          }
        : {}),
    });
  }

  async #notAdmitted({ birth }: Expecting, row: NotAdmitted): Promise<Spawned | 'again'> {
    if (row.fingerprint === null || !birth.claim) return { outcome: 'overQuota' };
    const now = this.around.clock.now();
    if (row.stored_at > now - REPLY_KEPT_MS)
      return { outcome: 'replayed', fingerprint: row.fingerprint, status: row.status, reply: row.reply };
    await storedReplies(this.around.database, [birth.claim], now);
    return 'again';
  }

  async #readBack(items: readonly Expecting[]): Promise<readonly (Spawned | null)[]> {
    const rows = await this.around.database.query<{ id: string }>(this.#readBackSql, [
      items.map(({ draft }) => draft.after.id),
    ]);
    const here = new Set(rows.map(({ id }) => id));
    return items.map(({ draft }) => (here.has(draft.after.id) ? spawned(draft) : null));
  }
}

const spawned = ({ after: { snapshot } }: Draft): Spawned => ({
  outcome: 'spawned',
  state: stateOf(snapshot),
  context: snapshot.context,
});
