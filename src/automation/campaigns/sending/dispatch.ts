import { setTimeout as pause } from 'node:timers/promises';
import type { CampaignEvent, CanaryStage, PausedReason } from '../../../../machines/campaign/context.ts';
import { findTerms } from '../../../accounts/workspace/queries.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { acceptForCampaign, type CampaignMessage } from '../../../sending/emails/accept.ts';
import { replyDomainOf, storedReplyTo } from '../../../sending/emails/commands.ts';
import type { BulkRoom } from '../../../sending/emails/queries.ts';
import type { DispatchDeps, Turn } from '../deps.ts';
import { findKeptContent, type KeptContent, sizeOf } from '../preview/content.ts';
import { trippedBy } from './guards.ts';
import { type Pace, paceOf } from './pace.ts';
import { nextWaiting, readLedger, recipientOf, skipGone, type WaitingRecipient } from './recipients.ts';
import { type MakeSubjects, subjectsOf } from './subjects.ts';

/**
 * Emails that are dispatched together: two commits of the engine, of which one is written while the other is
 * decided.
 */
const CHUNK = { postgres: 64, embedded: 100 } as const;
/** The wait for room in the queue: a full one empties at some thousands of emails a second. */
const ROOM_MS = 10;
/** The longest wait within a turn. */
const LONGEST_WAIT_MS = 1_000;
/** The wait after a chunk that could not be written. */
const AGAIN_MS = 1_000;
/** The wait of a campaign whose workspace is archived. */
const ARCHIVED_MS = 60_000;
/**
 * The rates of the guards are looked at after so many emails or milliseconds, and before the campaign ends.
 */
const GUARD_EVERY = 1_000;
const GUARD_MS = 2_000;

/**
 * The wait of a campaign for whose emails the warm-up of its domain has no room: it ends with the day, or
 * with the schedule.
 */
const WARM_UP_MS = 900_000;

/** The wait for dispatched emails that have not begun, and for those of them that wait for a limit. */
const QUEUED_MS = 500;
const LONGEST_QUEUED_MS = 60_000;
const QUEUED = `select (extract(epoch from d.wake_at) * 1000)::float8 as at from email_due d cross join lateral (
  select from emails e where e.id = d.id and e.workspace_id = $2 and e.campaign_id = $1 limit 1
) e where d.workspace_id = $2 and d.livemode and d.state = 'queued' order by d.id desc limit 1`;

type Source = Parameters<typeof nextWaiting>[1];
type ChunkResult = 'all' | 'overQuota' | 'withheld' | 'unwritten';

/** One turn of dispatching the emails of a campaign. */
export class Dispatch {
  #place: string;
  #canary: CanaryStage;
  #nextAt = 0;
  #sinceGuard = GUARD_EVERY;
  /** Monotonic. */
  #guardedAt = Number.NEGATIVE_INFINITY;
  #makeSubjects: MakeSubjects = async () => [];

  constructor(
    private readonly deps: DispatchDeps,
    private readonly turn: Turn,
  ) {
    this.#place = turn.context.place;
    this.#canary = turn.context.canary;
  }

  async run(): Promise<readonly CampaignEvent[]> {
    const { database } = this.deps;
    const { campaignId, workspaceId } = this.turn;
    const kept = await findKeptContent(database, campaignId);
    const terms = await findTerms(database, workspaceId);
    if (!kept || !terms) return this.#ended(ARCHIVED_MS);
    this.#makeSubjects = subjectsOf(this.deps, this.turn, kept);
    const message = await this.#messageOf(kept);
    if (message === null) return this.#stopped('sender_unverified');
    const before = await readLedger(database, campaignId);
    const pace = kept.ratePerHour === null ? null : paceOf(kept.ratePerHour, CHUNK[database.kind]);
    // A clock that was put back must not hold it up for longer than one slice.
    this.#nextAt = Math.min(before.nextAt ?? 0, this.deps.clock.now() + (pace?.everyMs ?? 0));
    const canary = await this.#settleCanary(kept);
    if (canary) return canary;
    const sender = { workspaceId, livemode: true, plan: terms.plan };
    const audienceId = kept.isStatic ? kept.audienceId : null;
    const source = { campaignId, workspaceId, audienceId };
    let canaryLeft = this.#canary === 'first' ? shareOf(kept, before) : Number.POSITIVE_INFINITY;
    while (!this.turn.isOver()) {
      if (canaryLeft <= 0) return this.#hold(kept);
      const room = await this.deps.warmUpRoom(message.domainId);
      if (room === 0) return this.#ended(WARM_UP_MS);
      const allowed = await this.#allowed(pace, room);
      if (allowed.count === 0) {
        // Outcomes of dispatched emails arrive meanwhile.
        const tripped = await this.#guard(0);
        if (tripped) return this.#stopped(tripped);
        continue;
      }
      const rows = await nextWaiting(database, source, this.#place, Math.min(allowed.count, canaryLeft));
      if (rows.length === 0) {
        const end = await this.#endOrBeginAgain(source);
        if (end) return end;
        continue;
      }
      if ((await findTerms(database, workspaceId)) === null) return this.#ended(ARCHIVED_MS);
      const early = await this.#early(pace);
      if (early === 'waited') continue;
      if (early) return early;
      const given = await this.#give(sender, kept, message, rows, pace, allowed.isElsewhere);
      if (given !== 'all') return await this.#after(given, source);
      canaryLeft -= rows.length;
      this.#place = rows.at(-1)?.contact_id ?? this.#place;
      const tripped = await this.#guard(rows.length);
      if (tripped) return this.#stopped(tripped);
    }
    return this.#ended(0);
  }

  /** The number of emails that may be dispatched now, and their recipients: none while the queue is full. */
  async #allowed(pace: Pace | null, warmUpRoom: number | null): Promise<BulkRoom> {
    const { database, bulkRoom } = this.deps;
    // No instance knows how much of a warm-up's day others will use for their remaining emails.
    const room = await bulkRoom(warmUpRoom !== null);
    const most = Math.min(room.count, CHUNK[database.kind]);
    if (most <= 0) await pause(ROOM_MS);
    return { ...room, count: Math.max(0, Math.min(most, pace?.slice ?? most, warmUpRoom ?? most)) };
  }

  /** Waits until a rate allows the next ones; a long wait is the next turn's. Null where they may go now. */
  async #early(pace: Pace | null): Promise<readonly CampaignEvent[] | 'waited' | null> {
    const waitMs = pace === null ? 0 : Math.ceil(this.#nextAt - this.deps.clock.now());
    if (waitMs <= 0) return null;
    if (waitMs > LONGEST_WAIT_MS) return this.#ended(waitMs);
    await pause(waitMs);
    return 'waited';
  }

  /**
   * Dispatches a chunk. One commit of the engine each stores a recipient's email or not, independently of the
   * others.
   */
  async #give(
    sender: Parameters<typeof acceptForCampaign>[1],
    kept: KeptContent,
    message: CampaignMessage,
    rows: readonly WaitingRecipient[],
    pace: Pace | null,
    isLeft: boolean,
  ): Promise<ChunkResult> {
    const { database, clock } = this.deps;
    const { campaignId, context } = this.turn;
    const read = rows.map((row) => ({ row, recipient: recipientOf(row, kept) }));
    const recipients = read.flatMap(({ recipient }) => recipient ?? []);
    // A recipient without an address is skipped as well: one that waited for ever would keep the campaign
    // from its end.
    const lost = read.flatMap(({ row, recipient }) => (recipient ? [] : [row]));
    const skipped = await skipGone(database, { campaignId, turn: context.attempt }, lost);
    if (skipped < lost.length) return 'withheld';
    const now = clock.now();
    // All before the first is accepted: those that are accepted together share commits.
    const subjects = await this.#makeSubjects(recipients, now).catch((error) => this.#warn(error));
    if (!subjects) return 'unwritten';
    const nextAt = pace === null ? null : Math.max(now, this.#nextAt) + pace.everyMs;
    if (nextAt !== null && recipients.length > 0) this.#nextAt = nextAt;
    const acceptance = this.deps.acceptance();
    const outcomes = await Promise.allSettled(
      recipients.map((recipient, index) =>
        acceptForCampaign(
          acceptance,
          sender,
          message,
          { ...recipient, subject: subjects[index] ?? null },
          { now, nextAt, isLeft },
        ),
      ),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) {
      this.#warn(failed.reason);
      return 'unwritten';
    }
    const said = new Set(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : null)));
    return said.has('withheld') ? 'withheld' : said.has('overQuota') ? 'overQuota' : 'all';
  }

  #warn(err: unknown): void {
    const actor = this.turn.campaignId;
    this.deps.logger.warn({ err, actor }, 'Emails of a campaign could not be stored.');
  }

  async #after(given: Exclude<ChunkResult, 'all'>, source: Source): Promise<readonly CampaignEvent[]> {
    // Each accepted recipient has used a unit: a pause must not keep their emails until the next month.
    if (given === 'overQuota')
      return (await this.#queuedFor(source)) === null
        ? this.#stopped('quota_exceeded')
        : this.#ended(QUEUED_MS);
    // A pause, or another turn that has the campaign, refuses this event. If neither, the next turn reads all
    // waiting recipients again.
    return given === 'withheld' ? this.#ended(AGAIN_MS, '') : this.#ended(AGAIN_MS);
  }

  /** The end is where no recipient waits at all, wherever this turn thought it was. */
  async #endOrBeginAgain(source: Source): Promise<readonly CampaignEvent[] | null> {
    const { database, clock } = this.deps;
    const isSomebodyLeft = (await nextWaiting(database, source, '', 1)).length > 0;
    if (isSomebodyLeft) {
      this.#place = '';
      return null;
    }
    // A pause, or a guard, still keeps those back whose emails have not begun.
    const waitMs = await this.#queuedFor(source);
    const tripped = await this.#guard(GUARD_EVERY);
    if (tripped) return this.#stopped(tripped);
    if (waitMs !== null) return this.#ended(waitMs);
    return [{ type: 'recipients.exhausted', at: clock.now(), attempt: this.turn.context.attempt }];
  }

  /** The wait for emails whose sending has not begun; null where none is left. */
  async #queuedFor({ campaignId, workspaceId }: Source): Promise<number | null> {
    const { database, clock } = this.deps;
    const [row] = await database.query<{ at: number }>(QUEUED, [campaignId, workspaceId]);
    if (!row) return null;
    return row.at - clock.now() > LONGEST_QUEUED_MS ? LONGEST_QUEUED_MS : QUEUED_MS;
  }

  async #messageOf(kept: KeptContent): Promise<CampaignMessage | null> {
    const { campaignId, workspaceId, context } = this.turn;
    const from = parseAddress(kept.from);
    if (isProblem(from)) return null;
    const domain = await this.deps.acceptance().findSendingDomain(workspaceId, from.domain);
    const replyTo = storedReplyTo(kept.replyTo);
    const found = await replyDomainOf(
      this.deps.acceptance().findReplyDomain,
      replyTo,
      { workspaceId, livemode: true, domain: from.domain },
      '/body',
    );
    // A domain that receives no more while the campaign leaves: its replies go to From, as they do without a
    // reply address.
    const replyDomain = found instanceof Failure ? null : found;
    const { templateId, subject, trackOpens, trackClicks } = kept;
    return (
      domain && {
        campaignId,
        turn: context.attempt,
        domainId: domain.id,
        templateId,
        from,
        replyTo,
        subject,
        replyDomain,
        trackOpens,
        trackClicks,
        size: sizeOf(kept),
      }
    );
  }

  async #guard(given: number): Promise<Exclude<PausedReason, 'manual'> | null> {
    this.#sinceGuard += given;
    const now = this.deps.clock.monotonic();
    if (this.#sinceGuard < GUARD_EVERY && now - this.#guardedAt < GUARD_MS) return null;
    this.#sinceGuard = 0;
    this.#guardedAt = now;
    return trippedBy(this.deps.database, this.turn, this.deps.guards, this.#place);
  }

  /** The first share is dispatched: the campaign waits for its outcomes. */
  #hold({ canary }: KeptContent): readonly CampaignEvent[] {
    this.#canary = 'holding';
    return this.#ended((canary?.holdMinutes ?? 0) * 60_000);
  }

  /** The end of the wait: the rest follows, or the campaign stops. */
  async #settleCanary({ canary }: KeptContent): Promise<readonly CampaignEvent[] | null> {
    if (this.#canary !== 'holding') return null;
    const { database, clock } = this.deps;
    // A pause in between, and going on after it, does not end the wait.
    const leftMs = (this.turn.context.holdsUntil ?? 0) - clock.now();
    if (leftMs > 0) return this.#ended(leftMs);
    const ledger = await readLedger(database, this.turn.campaignId);
    const given = ledger.sent + ledger.failed;
    const share = (count: number): number => (given === 0 ? 0 : (100 * count) / given);
    if (
      canary &&
      (share(ledger.permanent) > canary.maxBounceRate || share(ledger.complained) > canary.maxComplaintRate)
    )
      return this.#stopped('canary');
    this.#canary = 'over';
    return null;
  }

  #ended(waitMs: number, place = this.#place): readonly CampaignEvent[] {
    const { attempt } = this.turn.context;
    return [{ type: 'turn.ended', at: this.deps.clock.now(), attempt, place, waitMs, canary: this.#canary }];
  }

  #stopped(reason: Exclude<PausedReason, 'manual'>): readonly CampaignEvent[] {
    const { attempt } = this.turn.context;
    return [{ type: 'stop.demanded', at: this.deps.clock.now(), attempt, reason }];
  }
}

/** The number of recipients that the first share of a campaign still has to get. */
const shareOf = (
  { canary }: KeptContent,
  {
    total,
    skipped,
    sent,
    failed,
  }: { readonly total: number; readonly skipped: number; readonly sent: number; readonly failed: number },
): number =>
  canary === null
    ? Number.POSITIVE_INFINITY
    : Math.ceil(((total - skipped) * canary.percent) / 100) - sent - failed;
