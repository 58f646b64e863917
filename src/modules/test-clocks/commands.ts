import { setTimeout as pause } from 'node:timers/promises';
import { mintId } from '../../db/ids.ts';
import { replaceReply, replyParameters } from '../../db/stored-replies.ts';
import { Failure, invalid, notFound } from '../../http/failure.ts';
import { idempotently, keyedBy } from '../../http/idempotent.ts';
import type { Call, Replay } from '../../http/route.ts';
import { DAY_MS, isoOf } from '../../time/clock.ts';
import { type ClockedEmails, LIVE_KEY } from '../emails/commands.ts';
import type { AdvancedTestClock, AdvanceTestClock, NewTestClock, TestClock } from './model.ts';
import type { ClockMover } from './mover.ts';
import { type TestClockReader, viewOf } from './queries.ts';
import { ADVANCE, type ClockRow, CREATE, DELETE, findClock, MOST_CLOCKS, ranBetween } from './store.ts';

/** The services that changing test clocks calls. */
export interface TestClockCommands extends TestClockReader {
  readonly mover: ClockMover;
  readonly emails: ClockedEmails;
}

/** The furthest that one advance goes: two years, a leap year among them. */
const LONGEST_MS = 731 * DAY_MS;
/** The furthest that a clock goes from the present. */
const FURTHEST_MS = 3_653 * DAY_MS;
const UNIT_MS = { minutes: 60_000, hours: 3_600_000, days: DAY_MS, weeks: 7 * DAY_MS } as const;

const TOO_FAR = 'Must lie within ten years of the present.';

/** The refusal of what cannot be done while a clock advances. */
export const IS_ADVANCING = new Failure('CONFLICT', 'This test clock is advancing.', {
  suggestion: 'Ask for it again until its status is `ready`, then repeat the request.',
});

/** Makes a test clock. */
export async function createTestClock(
  { database }: TestClockCommands,
  call: Call<unknown, unknown, NewTestClock>,
): Promise<TestClock | Failure | Replay> {
  const { caller, body, now } = call;
  if (caller.livemode) return LIVE_KEY;
  const at = body.startAt === undefined ? now : Date.parse(body.startAt);
  if (!(Math.abs(at - now) <= FURTHEST_MS)) return invalid([{ path: '/body/startAt', message: TOO_FAR }]);
  const made: ClockRow = {
    ...{
      workspace_id: caller.workspaceId,
      id: mintId('clk', now),
      name: body.name ?? 'Test clock',
      status: 'ready',
    },
    ...{ now_at: at, target_at: at, emails: 0 },
  };
  const view = viewOf(made);
  return idempotently(database, keyedBy(call), {
    run: async () => {
      const rows = await database.query(CREATE, [
        ...[caller.workspaceId, made.id, made.name, isoOf(at)],
        ...replyParameters(keyedBy(call), 201),
        JSON.stringify(view),
      ]);
      return rows.length > 0 ? view : TOO_MANY;
    },
  });
}

const TOO_MANY = new Failure('CONFLICT', `This workspace has ${MOST_CLOCKS} test clocks already.`, {
  suggestion: 'Delete one that is no longer needed.',
});

/** The longest that an advance is waited for, in milliseconds; what is longer goes on without a listener. */
export const LONGEST_ADVANCE_MS = 60_000;

/** Sends a test clock on its way, and waits until it is there. */
export async function advanceTestClock(
  deps: TestClockCommands,
  call: Call<{ readonly id: string }, unknown, AdvanceTestClock>,
): Promise<AdvancedTestClock | Failure | Replay> {
  const { database } = deps;
  const { caller, params, body, now } = call;
  if (caller.livemode) return LIVE_KEY;
  return idempotently(database, keyedBy(call), {
    // Its own first effect would refuse the repetition.
    lookFirst: true,
    run: async () => {
      const row = await findClock(database, caller.workspaceId, params.id);
      if (!row) return notFound('test clock');
      const target = targetOf(row, body, now);
      if (target instanceof Failure) return target;
      if (row.status === 'advancing') return IS_ADVANCING;
      // What a repetition is told until there is more to tell: where it was sent.
      const begun = { ...viewOf({ ...row, status: 'advancing', target_at: target }), ran: 0 };
      const moved = await database.query(ADVANCE, [
        ...[caller.workspaceId, row.id, isoOf(row.now_at), isoOf(target)],
        ...replyParameters(keyedBy(call), 200),
        JSON.stringify(begun),
      ]);
      if (moved.length === 0) return IS_ADVANCING;
      const there = await arrival(deps, row, call.gone);
      if (!there) return notFound('test clock');
      const told = { ...viewOf(there), ran: await ranBetween(database, row, [row.now_at, there.now_at]) };
      await replaceReply(database, keyedBy(call), JSON.stringify(told));
      return told;
    },
  });
}

/** How often a clock is looked at that another instance moves. */
const LOOK_MS = 200;

/** The clock once it has come to its target, or as far as it is when the wait is over; null where it was deleted meanwhile. */
async function arrival(
  { database, mover }: TestClockCommands,
  row: ClockRow,
  gone: AbortSignal | undefined,
): Promise<ClockRow | null> {
  const over = AbortSignal.any([
    AbortSignal.timeout(LONGEST_ADVANCE_MS),
    mover.stopped,
    ...(gone ? [gone] : []),
  ]);
  const left = new Promise<void>((resolve) =>
    over.addEventListener('abort', () => resolve(), { once: true }),
  );
  for (;;) {
    await Promise.race([mover.move(row), left]);
    const there = await findClock(database, row.workspace_id, row.id);
    if (there?.status !== 'advancing' || over.aborted) return there;
    await Promise.race([pause(LOOK_MS), left]);
  }
}

/** Where a clock is to go, in epoch milliseconds. */
function targetOf({ now_at }: ClockRow, { to, by }: AdvanceTestClock, now: number): number | Failure {
  if ((to === undefined) === (by === undefined))
    return invalid([{ path: '/body', message: 'Must have either `to` or `by`.' }]);
  const path = by ? '/body/by' : '/body/to';
  const target = by ? now_at + by.amount * UNIT_MS[by.unit] : Date.parse(to ?? '');
  const wrong = (message: string): Failure => invalid([{ path, message }]);
  if (!(target > now_at)) return wrong('Must lie after the time that the clock shows: it never goes back.');
  if (target - now_at > LONGEST_MS)
    return wrong('Must lead at most 731 days ahead. Go there in several steps.');
  return target - now > FURTHEST_MS ? wrong(TOO_FAR) : target;
}

/** Deletes a test clock, and cancels what it has scheduled. */
export async function deleteTestClock(
  { database, emails, mover }: TestClockCommands,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<null | Failure> {
  if (caller.livemode) return LIVE_KEY;
  const there = await findClock(database, caller.workspaceId, params.id);
  // What an email has begun with comes to its end first.
  if (there?.status === 'ready') await mover.move(there);
  const [gone] = await database.query<ClockRow>(DELETE, [caller.workspaceId, params.id]);
  if (!gone) return there ? IS_ADVANCING : notFound('test clock');
  await emails.cancelScheduled({ id: gone.id, workspaceId: caller.workspaceId }, gone.now_at);
  return null;
}
