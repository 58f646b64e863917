import { setTimeout as pause } from 'node:timers/promises';
import { SENDER_KNOWN_MS } from '../../../accounts/workspace/queries.ts';
import { wakeWriting } from '../../../engine/store/statements/wake-at.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** The domain whose emails are released. */
interface ReleasedDomain {
  readonly id: string;
  readonly workspaceId: string;
}

/** Emails of one statement. */
const AT_ONCE = 1_000;
/** The statements that a request waits for; the rest follows after the answer. */
const AWAITED = 20;
/** An email that is due sooner waits for a slot, not for a limit. */
const SOON_MS = 60_000;
/**
 * Every instance knows the present limits after this time. One with the previous limits would defer the
 * emails again.
 */
const KNOWN_EVERYWHERE_MS = 2 * SENDER_KNOWN_MS;
/**
 * The times after which they are looked for again: an attempt that has begun puts its email off by the
 * previous limits after the first look, within seconds, and later on a machine that is overloaded. With a
 * process that dies before, such an email waits as long as it was put off.
 */
const AGAIN_AFTER_MS = [5_000, 55_000];

/**
 * The domain, and those before it of its name: what a campaign gave out by one of them leaves by the domain
 * (senders.ts).
 */
const WITH_EARLIER = `select e.id from domains d join domains e on e.workspace_id = d.workspace_id and e.name = d.name
where d.id = $1 and d.workspace_id = $2`;

/**
 * Has live emails of a workspace's domain that wait for a limit ask again within seconds, the oldest first:
 * the limit may be gone. Those that it still holds back are put off again. @throws UnavailableError
 */
export function waitingReleaser(
  database: Database,
  clock: Clock,
  logger: Logger,
  /** Called after each statement that released some: other processes may have to find them. */
  onReleased: () => void,
  againAfterMs: readonly number[] = AGAIN_AFTER_MS,
): (domain: ReleasedDomain) => Promise<void> {
  const wake = wakeWriting(clock);
  const sql = `with waiting as materialized (
  select d.id from email_due d where d.workspace_id = $5 and d.livemode and d.state = 'queued' and d.id > $4 and d.wake_at > $2::timestamptz
    and exists (select from emails e where e.id = d.id and e.workspace_id = $5 and e.domain_id = any($1::text[]))
  order by d.id limit ${AT_ONCE} for update of d skip locked
)${wake.cte}
update email_due d set wake_at = ${wake.at('$3::timestamptz')} from waiting w where d.id = w.id and d.workspace_id = $5 returning d.id`;
  /** The latest change of each domain whose emails are looked for again: looks of earlier ones end. */
  const latest = new Map<string, symbol>();
  return async ({ id: domainId, workspaceId }) => {
    const found = await database.query<{ id: string }>(WITH_EARLIER, [domainId, workspaceId]);
    const domainIds = found.map(({ id }) => id);
    /** Releases so many batches behind an id; the id behind which there are more, or null. */
    const look = async (batches: number, after = ''): Promise<string | null> => {
      let last = after;
      for (let batch = 0; batch < batches; batch++) {
        const now = clock.now();
        const parameters = [domainIds, iso(now + SOON_MS), iso(now + KNOWN_EVERYWHERE_MS), last, workspaceId];
        const released = await database.query<{ id: string }>(sql, parameters);
        if (released.length > 0) onReleased();
        for (const { id } of released) if (id > last) last = id;
        if (released.length < AT_ONCE) return null;
      }
      return last;
    };
    const warned = (looking: Promise<unknown>): Promise<unknown> =>
      looking.catch((err: unknown) =>
        logger.warn(
          { err, domainId },
          'Not every email that waited for the warm-up of a domain asks again yet.',
        ),
      );
    const change = Symbol(domainId);
    const lookAgain = async (rest: string | null): Promise<void> => {
      if (rest !== null) await warned(look(Number.POSITIVE_INFINITY, rest));
      for (const ms of againAfterMs) {
        await pause(ms, undefined, { ref: false });
        if (latest.get(domainId) !== change) return;
        // The present limits may have put the others off again, so that all would be found.
        await warned(look(AWAITED));
      }
      latest.delete(domainId);
    };
    const rest = await look(AWAITED);
    latest.set(domainId, change);
    void lookAgain(rest);
  };
}

const iso = (at: number): string => new Date(at).toISOString();
