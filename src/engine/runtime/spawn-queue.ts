import { Batcher, GATHERED, HALVED } from '../../platform/async/batcher.ts';
import { mayBeRepetition, REPLY_KEPT_MS, storedReplies } from '../../platform/db/stored-replies.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { Deciders, Definitions } from '../machine/definitions.ts';
import { type Draft, draftSpawn } from '../machine/draft.ts';
import { type InputOfKind, type Kind, type KindName, stateOf } from '../machine/kind.ts';
import type { Claim, ClaimOf, Meter, SpawnResult } from '../machine/result.ts';
import { handedOver } from '../machine/share.ts';
import { type ChildRow, Children, type Templates } from '../store/children.ts';
import { checkTag, hasOverrun } from '../store/commit.ts';
import type { BatchStatement } from '../store/statements/statement-parts.ts';
import { WITHHELD } from '../store/statements/statements.ts';
import { BulkLane } from './bulk-lane.ts';
import type { Actors } from './known-actors.ts';
import type { CommitDeps } from './mailbox.ts';

/** A new actor of that kind to be. */
export type SpawnRequestOf<Name extends KindName> = SpawnRequest<InputOfKind<Name>, ClaimOf<Name>>;

/** A new actor to be. */
export interface SpawnRequest<Input = { readonly at: number }, C = Claim> {
  readonly id?: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  /** The definition whose machine it runs, of a kind that has them. */
  readonly definitionId?: string | undefined;
  /** The machine's input; `at` is the moment from which its delays count. */
  readonly input: Input;
  /** The kind's spawn columns. */
  readonly columns: Readonly<Record<string, unknown>>;
  readonly meter?: Meter | undefined;
  readonly claim?: C | undefined;
  /** Handed to the performer of the first order, so that it need not read what was just written. */
  readonly payload?: unknown;
  /** About how many bytes its row takes in the statement. */
  readonly bytes?: number;
  /** True once its client got the answer that the deadline passed: the insert is not written any more. */
  readonly isGivenUp?: (() => boolean) | undefined;
  /** True when no caller waits: the insert is written apart from those that callers wait for. */
  readonly isBulk?: boolean;
  /**
   * True for an actor that offers itself to a process with room, instead of being carried out by this one.
   */
  readonly isLeft?: boolean;
}

interface PendingSpawn {
  readonly request: SpawnRequest;
  readonly draft: Draft;
  readonly settle: (spawned: SpawnResult) => void;
  readonly fail: (error: unknown) => void;
  /** Monotonic moment at which it was asked for. */
  readonly since: number;
  /** The requests that it is written with, in one statement; undefined for one alone. */
  readonly group?: readonly SpawnRequest[];
  tries: number;
}

interface NotAdmitted {
  readonly ord: number;
  readonly fingerprint: string | null;
  readonly status: number;
  readonly reply: string;
  readonly stored_at: number;
}

type SpawnAnswer = NotAdmitted & (ChildRow | { readonly child: null });

const MAX_TRIES = 5;

/** The status beside the tag of a reply: the term that holds new actors was open. */
const KEPT = 1;

/**
 * Batches under way at once: the second is read and decided while PostgreSQL works on the first. Of clients
 * that wait for their replies, one batch at a time leaves each side idle half of the time (64 connections:
 * 8,200 a second against 6,800).
 */
const WIDTH = 2;

/** New actors of one kind: decided, admitted and written in batches, answered. */
export class SpawnQueue {
  readonly #batcher: Batcher<PendingSpawn>;
  /** Inserts that no caller waits for. */
  readonly #bulk: Batcher<PendingSpawn>;
  /** The monotonic moment of the last insert with a waiting caller. */
  #othersAt = Number.NEGATIVE_INFINITY;
  readonly #statement: BatchStatement;
  readonly #children: Children;

  constructor(
    private readonly kind: Kind,
    private readonly definitions: Definitions,
    private readonly actors: Actors,
    private readonly deps: CommitDeps,
  ) {
    this.#batcher = new Batcher(
      `new ${kind.name}`,
      (batch) => this.#work(batch, this.#batcher),
      // An embedded database works in this thread: of two batches neither is read meanwhile, and each costs a
      // commit.
      deps.database.kind === 'embedded' ? GATHERED : HALVED,
      WIDTH,
      (before, item) => item.group !== undefined && item.group === before.group,
    );
    this.#bulk = new BulkLane(
      `new bulk ${kind.name}`,
      (batch) => this.#work(batch, this.#bulk),
      deps.clock.monotonic,
      () => this.#othersAt,
    );
    this.#statement = deps.store.insertStatement();
    this.#children = new Children(kind.children, deps);
  }

  /**
   * Settles once the actor is durable, or was not admitted.
   * @throws UnavailableError when the queue is full, the database away or the definition missing; the
   * driver's error when a constraint refuses it.
   */
  spawn(request: SpawnRequest): Promise<SpawnResult> {
    const deciders = this.definitions.load([request.definitionId]);
    return deciders instanceof Promise
      ? deciders.then((loaded) => this.#push(request, loaded))
      : this.#push(request, deciders);
  }

  /**
   * The same for actors of one event, such as a message to several people: one statement writes them all, or
   * none. Where tables lie on several nodes there is a statement for each, and after a failure some may be
   * durable. @throws as `spawn` does
   */
  async spawnTogether(requests: readonly SpawnRequest[]): Promise<SpawnResult[]> {
    const deciders = await this.definitions.load(requests.map(({ definitionId }) => definitionId));
    const pending: PendingSpawn[] = [];
    const results = requests.map(
      (request) =>
        new Promise<SpawnResult>((settle, fail) => {
          const draft = this.#draft(request, deciders);
          const since = this.deps.clock.monotonic();
          pending.push({ request, draft, settle, fail, since, group: requests, tries: 0 });
        }),
    );
    this.#othersAt = this.deps.clock.monotonic();
    this.#batcher.pushTogether(pending, Math.max(...requests.map(({ bytes }) => bytes ?? 1_024)));
    return Promise.all(results);
  }

  #push(request: SpawnRequest, deciders: Deciders): Promise<SpawnResult> {
    const draft = this.#draft(request, deciders);
    return new Promise((settle, fail) => {
      const since = this.deps.clock.monotonic();
      if (!request.isBulk) this.#othersAt = since;
      const lane = request.isBulk ? this.#bulk : this.#batcher;
      lane.push({ request, draft, settle, fail, since, tries: 0 }, request.bytes ?? 1_024);
    });
  }

  #draft(request: SpawnRequest, deciders: Deciders): Draft {
    const decider = deciders.of(request.definitionId);
    const drafted = draftSpawn(this.kind, decider, request, request.input.at);
    const own = this.deps.shareOf(this.kind);
    const share = request.isLeft ? { ...own, offers: false } : own;
    return {
      ...drafted,
      after: handedOver(this.kind, share, drafted.after, drafted.effects, request.input.at),
      claim: request.claim ?? null,
      payload: request.payload,
      ...(request.isLeft && { isLeft: true }),
    };
  }

  get waiting(): number {
    return this.#batcher.waiting + this.#bulk.waiting;
  }

  async drained(): Promise<void> {
    await Promise.all([this.#batcher.drained(), this.#bulk.drained()]);
  }

  async #work(waiting: readonly PendingSpawn[], batcher: Batcher<PendingSpawn>): Promise<void> {
    const batch = this.#inTime(waiting);
    if (batch.length === 0) return;
    const tag = this.deps.tags.next();
    const templates = this.#children.templates(this.deps.clock.now());
    const made: ChildRow[] = [];
    const verdicts = await this.deps.store.commit<PendingSpawn, SpawnResult | 'again'>(
      {
        run: (items) => this.#run(items, tag, templates, made),
        readBack: (items) => {
          templates.doubt();
          return this.#readBack(items);
        },
      },
      batch,
      ({ request }) => request.workspaceId,
    );
    if (verdicts.some(hasOverrun)) batcher.ease(batch.length);
    const committed: Draft[] = [];
    const again: PendingSpawn[] = [];
    batch.forEach((pending, index) => {
      const verdict = verdicts[index];
      if (!verdict) return;
      if ('committed' in verdict) {
        if (verdict.committed === 'again') {
          this.#isNotBorn(pending);
          again.push(pending);
        } else {
          if (verdict.committed.outcome === 'spawned') {
            this.actors.keep(pending.draft.after, this.deps.clock.now());
            this.deps.localLeases?.inserted(pending.draft.after.id);
            committed.push(pending.draft);
          } else this.#isNotBorn(pending);
          pending.settle(verdict.committed);
        }
      } else if ('poisoned' in verdict) {
        this.#isNotBorn(pending);
        // Another instance took the idempotency key since our snapshot: the next try finds its reply.
        if (pending.request.claim && mayBeRepetition(verdict.poisoned, pending.tries)) again.push(pending);
        else pending.fail(verdict.poisoned);
      } else {
        if (verdict.failed instanceof UnavailableError && verdict.failed.applied === 'no')
          this.#isNotBorn(pending);
        else this.deps.localLeases?.doubt();
        pending.fail(verdict.failed);
      }
    });
    if (committed.length > 0) this.deps.committed(committed);
    for (const [kind, drafts] of templates.instantiate(made)) this.deps.childrenSpawned(kind, drafts);
    if (again.length > 0) await this.#tryAgain(again);
  }

  #isNotBorn({ draft }: PendingSpawn): void {
    this.deps.localLeases?.settled(draft.after.id);
  }

  #inTime(waiting: readonly PendingSpawn[]): readonly PendingSpawn[] {
    const oldest = this.deps.clock.monotonic() - this.deps.callerWaitsMs;
    return waiting.filter(({ since, fail, request }) => {
      const isLate = since < oldest || request.isGivenUp?.() === true;
      if (isLate) fail(new UnavailableError('The database does not keep up.'));
      return !isLate;
    });
  }

  /**
   * Those whose idempotency key was taken: by a call of long ago, which is removed now, or by one that just
   * went before.
   */
  async #tryAgain(again: readonly PendingSpawn[]): Promise<void> {
    try {
      const claims = again.flatMap(({ request: { claim } }) => claim ?? []);
      await storedReplies(this.deps.database, claims, this.deps.clock.now());
    } catch (error) {
      for (const { fail } of again) fail(error);
      return;
    }
    for (const pending of again)
      if (++pending.tries > MAX_TRIES)
        pending.fail(new UnavailableError('The idempotency key is contended.'));
    const retry = again.filter(({ tries }) => tries <= MAX_TRIES);
    if (retry.length > 0) this.#batcher.unshift(retry);
  }

  async #run(
    items: readonly PendingSpawn[],
    tag: number,
    templates: Templates,
    made: ChildRow[],
  ): Promise<readonly (SpawnResult | 'again')[]> {
    const inputs = items.map((item, ord) => this.#row(item, ord));
    const { sql, parameters } = this.#statement.prepare(inputs, tag, templates.rowsFor(inputs));
    const rows = await this.deps.database.query<SpawnAnswer>(sql, parameters, { name: 'spawn' });
    const last = rows.pop();
    checkTag(tag, last?.reply);
    if (last?.status === KEPT) for (const { draft } of items) this.deps.localLeases?.alone(draft.after.id);
    const results: (SpawnResult | 'again')[] = items.map(({ draft }) => spawned(draft));
    for (const row of rows)
      if (row.child !== null) made.push(row as ChildRow);
      else results[row.ord] = this.#notAdmitted(items[row.ord] as PendingSpawn, row);
    return results;
  }

  #row({ request, draft }: PendingSpawn, ord: number): Record<string, unknown> {
    const { meter } = request;
    const { after } = draft;
    const keep = () => this.deps.localLeases?.take(after.id, stateOf(after.snapshot)) ?? null;
    const row = this.deps.store.sql.insertRow(draft, keep);
    // The row is new, and grows on: a copy of its forty members would cost as much as writing them.
    row.ord = ord;
    row.definition_id = request.definitionId;
    Object.assign(row, request.columns);
    row.held_by = this.deps.store.heldBy(draft);
    row.period = meter?.period;
    row.quota = meter?.quota;
    return row;
  }

  /**
   * Asks the database nothing: the others of the batch are committed, and their callers must get an answer,
   * whatever happens here.
   */
  #notAdmitted({ request }: PendingSpawn, row: NotAdmitted): SpawnResult | 'again' {
    if (row.status === WITHHELD) return { outcome: 'withheld' };
    if (row.fingerprint === null || !request.claim) return { outcome: 'overQuota' };
    if (row.stored_at <= this.deps.clock.now() - REPLY_KEPT_MS) return 'again';
    return { outcome: 'replayed', fingerprint: row.fingerprint, status: row.status, reply: row.reply };
  }

  async #readBack(items: readonly PendingSpawn[]): Promise<readonly (SpawnResult | null)[]> {
    const tags = await this.deps.store.readBack(items);
    return items.map(({ draft }) => (tags.has(draft.after.id) ? spawned(draft) : null));
  }
}

const spawned = ({ after: { snapshot } }: Draft): SpawnResult => ({
  outcome: 'spawned',
  state: stateOf(snapshot),
  context: snapshot.context,
});
