import type { EmailContext } from '../../../../machines/email-context.ts';
import type { Database } from '../../../db/database.ts';
import { lowestIdAt, timeOfId } from '../../../db/ids.ts';
import { type ActorRow, actorReader } from '../../../engine/actors.ts';
import { earliest } from '../../../engine/decide.ts';
import type { Engine } from '../../../engine/engine.ts';
import { DAY_MS } from '../../../time/clock.ts';
import { emailKind } from '../kind.ts';
import { simulate } from '../simulator/simulator.ts';

/** A test clock as its emails see it. */
export interface ClockOfEmails {
  readonly workspaceId: string;
  readonly id: string;
}

/** How far a test clock is to go. Times are epoch milliseconds. */
export interface Passage {
  readonly from: number;
  readonly to: number;
  /** Told of each moment before anything happens at it, and between the parts of a large one: false ends the passage there. */
  reached(at: number): Promise<boolean>;
}

/** The emails that live by test clocks, as the clocks move them. */
export interface ClockedEmails {
  /** Does all that is due until then, in the order of its times. Answers whether it came to the end. @throws Unavailable */
  pass(clock: ClockOfEmails, passage: Passage): Promise<boolean>;
  /**
   * Ends the emails of a clock that was deleted: cancels what is still scheduled, and finishes an attempt that was begun. The time is
   * each email's own when left out. @throws Unavailable
   */
  close(clock: ClockOfEmails, at?: number): Promise<void>;
}

/** Emails that are moved at once; an attempt of as many takes far less than a lease of the clock. */
const AT_ONCE = 50;

/** Instances differ by less, so that no email of a clock has a lower id than that. */
const BEFORE_CLOCK_MS = DAY_MS;

const IDS = `select id from emails where test_clock_id = $1 and workspace_id = $2 and not livemode and id >= $3 order by id`;

/**
 * Moves the emails of test clocks. What an email orders is done here too, so that a crash changes nothing in its journal: an attempt
 * that was begun and has no outcome gets it from whoever goes on, at the time of the clock at which it was begun.
 */
export function clockedEmails(deps: {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell' | 'fireTimers'>;
}): ClockedEmails {
  const { database, engine } = deps;
  const read = actorReader(database, emailKind);

  const idsOf = async ({ id, workspaceId }: ClockOfEmails): Promise<readonly string[]> => {
    const since = lowestIdAt('em', timeOfId(id) - BEFORE_CLOCK_MS);
    return (await database.query<{ id: string }>(IDS, [id, workspaceId, since])).map((row) => row.id);
  };

  /** The attempt and its reports in one commit: there is never one without the other. */
  const attempt = async (id: string, context: EmailContext): Promise<void> => {
    const report = {};
    const events = simulate(context, `<${id}@simulator>`, context.at);
    await Promise.all(events.map((event) => engine.tell('email', id, event, { report })));
  };

  /** What is due of one email at that moment, and the attempt that it orders. */
  const move = async ({ id, state, context }: ActorRow, at: number): Promise<void> => {
    if (state === 'sending') return attempt(id, context as EmailContext);
    const fired = await engine.fireTimers('email', id, at);
    if (fired.outcome === 'changed' && fired.state === 'sending') await attempt(id, fired.context);
  };

  const end = async ({ id, state, context }: ActorRow, at?: number): Promise<void> => {
    const own = context as EmailContext;
    if (state === 'sending') await attempt(id, own);
    if (state === 'scheduled') await engine.tell('email', id, { type: 'cancel.requested', at: at ?? own.at });
  };

  return {
    async pass(clock, { from, to, reached }) {
      const waiting = new Map<string, ActorRow>();
      const look = async (ids: readonly string[]): Promise<void> => {
        const rows = ids.length === 0 ? [] : await read(ids);
        const found = new Set(rows.map(({ id }) => id));
        // What is not there any more was removed, with other test data or with its workspace.
        for (const id of ids) if (!found.has(id)) waiting.delete(id);
        for (const row of rows) {
          if (waiting.get(row.id)?.revision === row.revision)
            throw new Error(`${row.id} stays as it is, ${row.state}, although its time has come.`);
          if (row.timers === null) waiting.delete(row.id);
          else waiting.set(row.id, row);
        }
      };
      await look(await idsOf(clock));
      let at = from;
      for (;;) {
        const open = [...waiting.values()].filter(({ state }) => state === 'sending');
        const next = Math.max(at, Math.min(...waiting.values().map(dueOf)));
        if (open.length === 0 && next > to) return true;
        if (open.length === 0) at = next;
        const some = (open.length > 0 ? open : [...waiting.values()].filter((row) => dueOf(row) <= at))
          .toSorted((a, b) => dueOf(a) - dueOf(b))
          .slice(0, AT_ONCE);
        if (!(await reached(at))) return false;
        await Promise.all(some.map((row) => move(row, at)));
        await look(some.map(({ id }) => id));
      }
    },
    async close(clock, at) {
      const ids = await idsOf(clock);
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const rows = await read(ids.slice(from, from + AT_ONCE));
        await Promise.all(rows.map((row) => end(row, at)));
      }
    },
  };
}

const dueOf = ({ timers }: ActorRow): number => earliest(timers ?? {}) ?? Number.POSITIVE_INFINITY;
