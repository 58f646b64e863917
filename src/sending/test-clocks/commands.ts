import { setTimeout as pause } from 'node:timers/promises';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { type Call, Replay } from '../../http/request/route.ts';
import { mintId } from '../../platform/db/ids.ts';
import { replaceReply, replyParameters } from '../../platform/db/stored-replies.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { DAY_MS, isoOf } from '../../platform/time/clock.ts';
import { LIVE_KEY } from '../emails/commands.ts';
import type { AdvancedTestClock, AdvanceTestClock, NewTestClock, TestClock } from './model.ts';
import type { ClockMover } from './mover.ts';
import { type TestClockReader, viewOf } from './queries.ts';
import { ADVANCE, type ClockRow, CREATE, DELETE, findClock, MOST_CLOCKS, ranBetween } from './store.ts';

/** The services that changing test clocks calls. */
export interface TestClockCommands extends TestClockReader {
  readonly mover: ClockMover;
}

/** The furthest that one advance goes: two years, a leap year among them. */
const LONGEST_MS = 731 * DAY_MS;
/** The furthest that a clock goes from the present. */
const FURTHEST_MS = 3_653 * DAY_MS;
const UNIT_MS = { minutes: 60_000, hours: 3_600_000, days: DAY_MS, weeks: 7 * DAY_MS } as const;

const TOO_FAR = 'Must be within ten years of the present.';

/** The refusal of requests that need a clock that is not advancing. */
export const IS_ADVANCING = new Failure('CONFLICT', 'This test clock is advancing.', {
  suggestion: 'Poll it until its status is `ready`, then repeat the request.',
});

/** Makes a test clock. */
export async function createTestClock(
  { database }: TestClockCommands,
  call: Call<unknown, unknown, NewTestClock>,
): Promise<TestClock | Failure | Replay> {
  const { caller, body, now } = call;
  if (caller.livemode) return LIVE_KEY;
  const at = body.startAt === undefined ? now : Date.parse(body.startAt);
  if (!(Math.abs(at - now) <= FURTHEST_MS)) return invalidAt('/body/startAt', TOO_FAR);
  const made: ClockRow = {
    workspace_id: caller.workspaceId,
    id: mintId('clk', now),
    name: body.name ?? 'Test clock',
    status: 'ready',
    now_at: at,
    target_at: at,
    emails: 0,
    contacts: 0,
    runs: 0,
    runs_refused: 0,
  };
  const view = viewOf(made);
  return idempotently(database, keyedBy(call), {
    run: async () => {
      const rows = await database.query(CREATE, [
        caller.workspaceId,
        made.id,
        made.name,
        isoOf(at),
        ...replyParameters(keyedBy(call), 201),
        JSON.stringify(view),
      ]);
      return rows.length > 0 ? view : TOO_MANY;
    },
  });
}

const TOO_MANY = new Failure('CONFLICT', `This workspace has ${MOST_CLOCKS} test clocks, the maximum.`, {
  suggestion: 'Delete one that you no longer need.',
});

/** The longest wait of a request for an advance, in milliseconds; a longer advance goes on without it. */
export const LONGEST_ADVANCE_MS = 60_000;

/** Sends a test clock on its way, and waits until it is there. */
export async function advanceTestClock(
  deps: TestClockCommands,
  call: Call<{ readonly id: string }, unknown, AdvanceTestClock>,
): Promise<AdvancedTestClock | Failure | Replay> {
  const { database } = deps;
  const { caller, params, body, now } = call;
  if (caller.livemode) return LIVE_KEY;
  const told = await idempotently<AdvancedTestClock>(database, keyedBy(call), {
    // The first effect of the request would refuse its repetition.
    lookFirst: true,
    run: async () => {
      const row = await findClock(database, caller.workspaceId, params.id);
      if (!row) return notFound('test clock');
      const target = targetOf(row, body, now);
      if (target instanceof Failure) return target;
      if (row.status === 'advancing') return IS_ADVANCING;
      // A repeated request is answered with the state at the beginning, until there is a result.
      const begun = { ...viewOf({ ...row, status: 'advancing', target_at: target }), ran: 0 };
      const moved = await database.query(ADVANCE, [
        caller.workspaceId,
        row.id,
        isoOf(row.now_at),
        isoOf(target),
        ...replyParameters(keyedBy(call), 200),
        JSON.stringify(begun),
      ]);
      if (moved.length === 0) return IS_ADVANCING;
      return (await outcomeOf(deps, call, { ...row, target_at: target })) ?? notFound('test clock');
    },
  });
  return told instanceof Replay ? resumed(deps, call, told) : told;
}

type AdvanceCall = Pick<Call, 'caller' | 'claim' | 'now' | 'gone'>;

/**
 * Reads the outcome of an advance by its stored reply, which has only the beginning where the first answer
 * came before the end.
 */
async function resumed(deps: TestClockCommands, call: AdvanceCall, told: Replay): Promise<Replay> {
  const begun = told.body as AdvancedTestClock;
  if (begun.advancingTo === null) return told;
  const row = await findClock(deps.database, call.caller.workspaceId, begun.id);
  const way = { now_at: Date.parse(begun.now), target_at: Date.parse(begun.advancingTo) };
  const outcome = row && (await outcomeOf(deps, call, { ...row, ...way }));
  return outcome ? new Replay(told.status, outcome) : told;
}

/**
 * The result of an advance, between the moments of that row, once the clock has arrived or the wait is over;
 * null where it was deleted.
 */
async function outcomeOf(
  deps: TestClockCommands,
  call: AdvanceCall,
  way: ClockRow,
): Promise<AdvancedTestClock | null> {
  const { database } = deps;
  const found = await arrival(deps, way, call.gone);
  if (!found) return null;
  const isThere = hasArrived(found, way);
  // Another request may have advanced it further since.
  const there: ClockRow = isThere ? { ...found, status: 'ready', now_at: way.target_at } : found;
  const outcome = {
    ...viewOf(there),
    ran: await ranBetween(database, way, [way.now_at, there.now_at]),
  };
  if (isThere) await replaceReply(database, keyedBy(call), JSON.stringify(outcome));
  return outcome;
}

const hasArrived = ({ status, target_at }: ClockRow, way: ClockRow): boolean =>
  status === 'ready' || target_at > way.target_at;

/** The time between two looks at a clock that another instance moves. */
const LOOK_MS = 200;

/**
 * The clock once it has reached its target, or its state when the wait is over; null where it was deleted
 * meanwhile.
 */
async function arrival(
  { database, mover }: TestClockCommands,
  way: ClockRow,
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
    await Promise.race([mover.move(way), left]);
    const there = await findClock(database, way.workspace_id, way.id);
    if (!there || hasArrived(there, way) || over.aborted) return there;
    await Promise.race([pause(LOOK_MS), left]);
  }
}

/** The target of an advance, in epoch milliseconds. */
function targetOf({ now_at }: ClockRow, { to, by }: AdvanceTestClock, now: number): number | Failure {
  if ((to === undefined) === (by === undefined)) return invalidAt('/body', 'Must have either `to` or `by`.');
  const path = by ? '/body/by' : '/body/to';
  const target = by ? now_at + by.amount * UNIT_MS[by.unit] : Date.parse(to ?? '');
  const wrong = (message: string): Failure => invalidAt(path, message);
  if (!(target > now_at)) return wrong('Must be after the time of the clock, which never goes back.');
  if (target - now_at > LONGEST_MS)
    return wrong('Must be at most 731 days ahead. Use several advances to go further.');
  return target - now > FURTHEST_MS ? wrong(TOO_FAR) : target;
}

/** True once all work of a clock at its present time is done; false as soon as it advances. */
async function hasSettled(
  clock: ClockRow,
  { database, mover }: Pick<TestClockCommands, 'database' | 'mover'>,
): Promise<boolean> {
  let isOver = false;
  const moved = mover.move(clock).then(() => {
    isOver = true;
  });
  for (;;) {
    const now = await findClock(database, clock.workspace_id, clock.id);
    if (now?.status === 'advancing') return false;
    if (isOver) return true;
    await Promise.race([moved, pause(LOOK_MS)]);
  }
}

/**
 * Deletes a test clock, and ends the actors that wait for it. The mover ends actors that are accepted for it
 * meanwhile.
 */
export async function deleteTestClock(
  { database, mover }: TestClockCommands,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<null | Failure> {
  if (caller.livemode) return LIVE_KEY;
  const there = await findClock(database, caller.workspaceId, params.id);
  // Work that an email has begun ends first; an advance that begins meanwhile is not awaited.
  if (there?.status === 'ready' && !(await hasSettled(there, { database, mover }))) return IS_ADVANCING;
  const [gone] = await database.query<ClockRow>(DELETE, [caller.workspaceId, params.id]);
  if (!gone && there) return IS_ADVANCING;
  // Also where it is gone already: a deletion that failed in between is repeated.
  await mover.end({ id: params.id, workspace_id: caller.workspaceId }, gone?.now_at);
  return gone ? null : notFound('test clock');
}
