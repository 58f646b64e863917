import type { Logger } from 'pino';
import type { Clock } from '../../../platform/time/clock.ts';
import type { Deciders } from '../../machine/definitions.ts';
import type { Actor } from '../../machine/kind.ts';
import type { ActorRow } from '../../machine/storage.ts';
import type { OrderRunner } from '../performers.ts';
import type { RunningKind } from '../running-kind.ts';
import type { DueActors, WakeResult } from './due-batches.ts';

interface Deps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The scheduler's work with the actors of one kind that it has claimed. Actors that wait for their performer
 * are claimed apart: they must keep no others of their kind waiting.
 */
export function wakeablesOf(running: RunningKind, deps: Deps): readonly DueActors[] {
  const { performing, kind, share, store } = running;
  const due: DueActors = {
    store,
    room: () => running.room,
    wake: (rows, isClaimed) => wake(running, deps, rows, isClaimed),
  };
  if (!performing) return share.wakes ? [due] : [];
  // Actors that offer themselves have a room of their performer's: thousands of them wait here, and must not
  // keep timers from firing.
  if (!kind.offers) return share.wakes ? [{ ...due, room: () => running.roomForDue }] : [];
  const { where, bulk } = kind.offers;
  const others = share.wakes ? [{ ...due, where: `not (${where})` }] : [];
  if (!share.offers) return others;
  const offered: DueActors = {
    store,
    where: bulk === undefined ? where : `${where} and not (${bulk})`,
    waitsForRoom: true,
    room: () => running.roomForOffers,
    wake: (rows) => handOver(running, performing, deps, rows, false),
  };
  if (bulk === undefined) return [...others, offered];
  const inBulk: DueActors = {
    ...offered,
    where: `${where} and ${bulk}`,
    room: () => running.roomForBulk,
    wake: (rows) => handOver(running, performing, deps, rows, true),
  };
  return [...others, offered, inBulk];
}

async function handOver(
  running: RunningKind,
  performing: OrderRunner,
  deps: Deps,
  rows: readonly ActorRow[],
  isBulk: boolean,
): Promise<WakeResult> {
  const { kind } = running;
  const deciders = await running.definitions.load(rows.map((row) => row.definition_id));
  const at = deps.clock.now();
  for (const row of rows) {
    const actor = keepNewer(running, deciders, row, at);
    // An actor that cannot be restored gets the event, and so is reported; one that has moved on since the
    // claim needs nothing.
    if (!actor) await wake(running, deps, [row], true);
    else if (kind.offers?.is(actor) === true) {
      const effect = { type: kind.offers.effect, params: {} };
      performing.take({ kind: kind.name, actor, effect, ...(isBulk && { isBulk }) });
    }
  }
  return { left: [], isContested: false };
}

async function wake(
  running: RunningKind,
  { clock, logger }: Deps,
  rows: readonly ActorRow[],
  isClaimed: boolean,
): Promise<WakeResult> {
  const deciders = await running.definitions.load(rows.map((row) => row.definition_id));
  const at = clock.now();
  for (const row of rows) keepNewer(running, deciders, row, at);
  const lostBefore = running.mailbox.lostRaces;
  const results = await running.fireTimers(rows, at, isClaimed);
  for (const result of results)
    if (result.status === 'rejected')
      logger.warn({ err: result.reason }, 'A due actor could not be woken; it stays due.');
  const isChanged = (result: (typeof results)[number] | undefined) =>
    result?.status === 'fulfilled' && result.value.outcome === 'changed';
  return {
    left: rows.flatMap(({ id }, index) => (isChanged(results[index]) ? [] : [id])),
    isContested:
      running.mailbox.lostRaces > lostBefore || results.some(({ status }) => status === 'rejected'),
  };
}

/**
 * A row that cannot be restored (a state of another version, a missing definition) is left to its event,
 * which reports it.
 */
function keepNewer({ actors }: RunningKind, deciders: Deciders, row: ActorRow, at: number): Actor | null {
  const known = actors.get(row.id);
  if (known && known.revision >= row.revision) return known;
  try {
    const actor = actors.restore(row, deciders);
    actors.keep(actor, at);
    return actor;
  } catch {
    actors.forget(row.id);
    return null;
  }
}
