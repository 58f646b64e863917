import type { Database } from '../db/database.ts';
import { codeOf } from '../db/sqlstate.ts';
import { Unavailable } from '../db/unavailable.ts';
import type { ActorRow, Actors } from './actors.ts';
import type { Clock } from './clock-source.ts';
import { type CommitTags, commitBatch, type Verdict } from './commit.ts';
import type { Decider } from './decide.ts';
import { type Decided, fold, type Letter } from './fold.ts';
import { type Actor, type Kind, stateOf } from './kind.ts';
import { Lane } from './lane.ts';
import { commitStatement, loadStatement, readBackStatement } from './statements.ts';
import { storedReplies } from './stored-replies.ts';
import { type Draft, factLists, jsonList, machineColumns, mailList } from './tell-batch.ts';
import type { StoredReply, Told } from './told.ts';

/** How often an event that lost its revision is decided again before the caller hears 503. */
const MAX_DECISIONS = 20;

/** What the mailbox needs around it. */
export interface MailboxSurroundings {
  readonly database: Database;
  readonly clock: Clock;
  readonly tags: CommitTags;
  /** Hears of what was committed, in commit order. */
  committed(drafts: readonly Draft[]): void;
}

/** Events for existing actors of one kind: loaded, decided, committed in batches, answered. */
export class Mailbox {
  readonly #lane: Lane<Letter>;
  readonly #commitSql: string;
  readonly #loadSql: string;
  readonly #readBackSql: string;

  constructor(
    private readonly kind: Kind,
    private readonly decider: Decider,
    private readonly actors: Actors,
    private readonly around: MailboxSurroundings,
  ) {
    this.#lane = new Lane(kind.name, (batch) => this.#work(batch));
    this.#commitSql = commitStatement(kind);
    this.#loadSql = loadStatement(kind);
    this.#readBackSql = readBackStatement(kind);
  }

  /** Puts an event into the mailbox. @throws Unavailable when it is full */
  push(letter: Letter): void {
    this.#lane.push(letter);
  }

  get waiting(): number {
    return this.#lane.waiting;
  }

  drained(): Promise<void> {
    return this.#lane.drained();
  }

  async #work(batch: readonly Letter[]): Promise<void> {
    try {
      const byActor = Map.groupBy(await this.#stillToHandle(batch), ({ id }) => id);
      const replies = await this.#storedReplies(batch);
      const loaded = await this.#load([...byActor.keys()].filter((id) => !this.actors.get(id)));
      const { kind, decider } = this;
      const folding = { kind, decider, replies, postpone: (letter: Letter) => this.#lane.unshift([letter]) };
      const decided: Decided[] = [];
      for (const [id, letters] of byActor) {
        const one = fold(folding, this.actors.get(id) ?? loaded.get(id), letters);
        if (one) decided.push(one);
      }
      if (decided.length > 0) await this.#commit(decided);
    } catch (error) {
      this.#undelivered(batch, error);
    }
  }

  /** For this batch only; `actors` may be bounded to nothing. */
  async #load(ids: readonly string[]): Promise<ReadonlyMap<string, Actor>> {
    if (ids.length === 0) return new Map();
    const rows = await this.around.database.query<ActorRow>(this.#loadSql, [ids]);
    return new Map(rows.map((row) => [row.id, this.actors.restore(row)]));
  }

  /** Mail of letters that lost a race may have been handled by the winner: those are done. */
  async #stillToHandle(batch: readonly Letter[]): Promise<readonly Letter[]> {
    const doubtful = batch.flatMap(({ mail, decisions }) => (mail !== undefined && decisions > 0 ? [mail] : []));
    if (doubtful.length === 0) return batch;
    const rows = await this.around.database.query<{ id: string }>(
      'select m.id from unnest($1::text[]) i(id) join mail m on m.id = i.id',
      [doubtful],
    );
    const there = new Set(rows.map(({ id }) => id));
    return batch.filter(({ mail, decisions, settle }) => {
      const isDone = mail !== undefined && decisions > 0 && !there.has(mail);
      if (isDone) settle({ outcome: 'absent' });
      return !isDone;
    });
  }

  #storedReplies(batch: readonly Letter[]): Promise<ReadonlyMap<string, StoredReply>> {
    const asked = batch.flatMap(({ claim }) => (claim ? [claim] : []));
    return storedReplies(this.around.database, asked, this.around.clock.now());
  }

  async #commit(decided: readonly Decided[]): Promise<void> {
    const tag = this.around.tags.next();
    const verdicts = await commitBatch<Decided, 'changed' | 'lost'>(
      {
        run: async (items) => {
          const drafts = items.map(({ draft }) => draft);
          const rows = await this.around.database.query<{ id: string }>(this.#commitSql, [
            JSON.stringify(
              drafts.map((draft) => ({ ...machineColumns(this.kind, draft), revision: draft.before?.revision })),
            ),
            this.kind.version,
            tag,
            claimList(drafts),
            mailList(drafts),
            ...(this.kind.receivesMail ? [consumedList(items)] : []),
            ...factLists(this.kind, drafts),
          ]);
          const lost = new Set(rows.map(({ id }) => id));
          return drafts.map(({ after }) => (lost.has(after.id) ? 'lost' : 'changed'));
        },
        readBack: async (items) => {
          const rows = await this.around.database.query<{ id: string; revision: number; commit_tag: number }>(
            this.#readBackSql,
            [items.map(({ draft }) => draft.after.id)],
          );
          const byId = new Map(rows.map((row) => [row.id, row]));
          return items.map(({ draft: { after } }) => {
            const row = byId.get(after.id);
            if (row && row.revision === after.revision && row.commit_tag === tag) return 'changed';
            return row && row.revision >= after.revision ? 'lost' : null;
          });
        },
      },
      decided,
    );
    this.#conclude(decided, verdicts);
  }

  #conclude(decided: readonly Decided[], verdicts: readonly Verdict<'changed' | 'lost'>[]): void {
    const committed: Draft[] = [];
    decided.forEach(({ draft, answers }, index) => {
      const verdict = verdicts[index] as Verdict<'changed' | 'lost'>;
      if ('committed' in verdict && verdict.committed === 'changed') {
        const { snapshot } = draft.after;
        this.actors.keep(draft.after, this.around.clock.now());
        committed.push(draft);
        const changed: Told = { outcome: 'changed', state: stateOf(snapshot), context: snapshot.context };
        for (const { letter, told } of answers) letter.settle(told ?? changed);
        return;
      }
      const letters = answers.map(({ letter }) => letter);
      this.actors.forget(draft.after.id);
      if ('committed' in verdict) this.#decideAgain(letters);
      else if ('poisoned' in verdict) this.#poisoned(letters, verdict.poisoned);
      else this.#undelivered(letters, verdict.failed);
    });
    if (committed.length > 0) this.around.committed(committed);
  }

  /** An idempotency key that another instance took in the meantime is no poison: the next try replays its reply. */
  #poisoned(letters: readonly Letter[], error: unknown): void {
    if (codeOf(error) === '23505' && letters.some(({ claim }) => claim)) this.#decideAgain(letters);
    else for (const letter of letters) letter.fail(error);
  }

  /** The revision had moved on: the same events, on the actor as it is now. */
  #decideAgain(letters: readonly Letter[]): void {
    const again: Letter[] = [];
    for (const letter of letters) {
      if (++letter.decisions < MAX_DECISIONS) again.push(letter);
      else letter.fail(new Unavailable('The resource is too contended.'));
    }
    if (again.length > 0) this.#lane.unshift(again);
  }

  /** The database did not take the batch: callers hear of it, outcomes of performed orders are tried on. */
  #undelivered(letters: readonly Letter[], error: unknown): void {
    const now = this.around.clock.monotonic();
    const patient: Letter[] = [];
    for (const letter of letters) {
      this.actors.forget(letter.id);
      if (error instanceof Unavailable && (letter.patientUntil ?? 0) > now) patient.push(letter);
      else letter.fail(error);
    }
    // The pause keeps a dead database from being asked in a tight loop; 250 ms still heals well within a second.
    if (patient.length > 0) setTimeout(() => this.#lane.unshift(patient), 250);
  }
}

const consumedList = (decided: readonly Decided[]): string =>
  jsonList(
    decided.flatMap(({ draft, answers }) =>
      answers.flatMap(({ letter: { mail } }) => (mail === undefined ? [] : [{ actor: draft.after.id, id: mail }])),
    ),
  );

const claimList = (drafts: readonly Draft[]): string =>
  jsonList(drafts.flatMap(({ after, claim, steps }) =>
    claim === null
      ? []
      : [
          {
            actor: after.id,
            workspace_id: claim.scope.workspaceId,
            livemode: claim.scope.livemode,
            key: claim.key,
            fingerprint: claim.fingerprint,
            status: claim.status,
            reply: claim.reply(stateOf(after.snapshot), after.snapshot.context),
            at: new Date(steps.at(-1)?.at ?? 0).toISOString(),
          },
        ],
  ));
