import { and, inArray, isNotNull, lt, or } from 'drizzle-orm';
import type { Duty } from '../../engine/duties/duty.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Database } from '../../platform/db/database.ts';
import { mintId } from '../../platform/db/ids.ts';
import { earlyVisits } from '../../platform/db/schema/mail.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { visitorNamed } from './visitors.ts';
import { areOfScanner, type EarlyVisit, isBeforeOutcome, reportOf } from './visits.ts';

export interface EarlyVisitsDeps {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell'>;
  readonly clock: Clock;
}

/** Scanners come within a minute of the delivery; later visitors count as they seem. */
const EARLY_MS = 60_000;
/** The time after a recipient's first visit in which a scanner has shown itself. */
const WAIT_MS = 6_000;
/** Visits whose judge has died are judged again. */
const CLAIM_MS = 60_000;
/** Judged visits show for this long which networks are scanners'. */
const KEPT_MS = 2 * EARLY_MS;
/** The age at which visits without a verdict are deleted. */
const LOST_MS = 86_400_000;
/** Recipients whose visits are judged together. */
const AT_ONCE = 200;

/**
 * The most visits of a recipient that are kept. Anyone with the message can repeat them without end, and an
 * email records fewer of each kind.
 */
export const MOST_KEPT = 400;

/** Keeps a visit, if the email was sent less than a minute ago, or is being sent. */
const KEEP = `with early as materialized (
  select exists (
    select true from email_turns where email_id = $2 and sent_at > $9::text::timestamptz - interval '${EARLY_MS} ms'
  ) or 'sending' = (select state from email_turns where email_id = $2 order by revision desc limit 1) as yes
), kept as (
  insert into early_visits (id, email_id, recipient, type, target, links, network, user_agent, seen_at)
  select $1, $2, $3::integer, $4, $5, $6::smallint, $7, $8, $9::text::timestamptz from early
  where yes and (
    select count(*) from (select from early_visits where email_id = $2 and recipient = $3::integer limit ${MOST_KEPT}) v
  ) < ${MOST_KEPT}
)
select yes from early`;

/**
 * $1 the moment up to which recipients have had their time, $2 now, $3 the moment before which a claim has
 * ended.
 */
const CLAIM = `with ripe as (
  select email_id, recipient from early_visits
  where is_scanner is null and (claimed_at is null or claimed_at < $3::text::timestamptz)
  group by email_id, recipient having min(seen_at) <= $1::text::timestamptz limit ${AT_ONCE}
), claimed as (
  update early_visits v set claimed_at = $2::text::timestamptz from ripe r
  where v.email_id = r.email_id and v.recipient = r.recipient
    and v.is_scanner is null and (v.claimed_at is null or v.claimed_at < $3::text::timestamptz)
  returning v.*
)
select id, email_id as "emailId", recipient, type, target, links, network, user_agent as "userAgent",
  (extract(epoch from seen_at) * 1000)::float8 as at, exists (
    select from early_visits j
    where j.email_id = c.email_id and j.recipient = c.recipient and j.network = c.network and j.is_scanner
  ) as "isKnown"
from claimed c order by seen_at, id`;

type ClaimedVisit = EarlyVisit & { readonly id: string; readonly isKnown: boolean };

/**
 * The opens and clicks of the first minute. Only the second or third link that is followed shows that a
 * scanner has followed the first: so such a visit is stored, and its email gets it once the visitor is known.
 * So is one that comes before the outcome of the attempt that has brought the message, until that outcome is
 * there. Recorded visits are never taken back, and everything that counts visits counts the same.
 */
export class EarlyVisits {
  constructor(private readonly deps: EarlyVisitsDeps) {}

  /**
   * Keeps a visit until it is judged; false when it comes after the first minute. @throws UnavailableError
   */
  async keep(visit: EarlyVisit): Promise<boolean> {
    const { emailId, recipient, type, target, links, network, userAgent, at } = visit;
    const [early] = await this.deps.database.query<{ yes: boolean }>(KEEP, [
      mintId('vst', at),
      emailId,
      recipient,
      type,
      target,
      links,
      network,
      userAgent,
      iso(at),
    ]);
    return early?.yes === true;
  }

  /** The duty that judges stored visits. */
  get duty(): Duty {
    return {
      name: 'visitJudge',
      pattern: '*/2 * * * * *',
      asks: () => 'exists (select from early_visits)',
      run: async (stop) => {
        while (!stop?.aborted && (await this.#judge()) > 0);
        const now = this.deps.clock.now();
        const { seenAt, isScanner } = earlyVisits;
        const isJudged = and(lt(seenAt, new Date(now - KEPT_MS)), isNotNull(isScanner));
        await this.deps.database.read((orm) =>
          orm.delete(earlyVisits).where(or(isJudged, lt(seenAt, new Date(now - LOST_MS)))),
        );
      },
    };
  }

  /** Judges the visits of those recipients who have had their time; answers how many visits that were. */
  async #judge(): Promise<number> {
    const { database, clock } = this.deps;
    const now = clock.now();
    const claimed = await database.query<ClaimedVisit>(CLAIM, [
      iso(now - WAIT_MS),
      iso(now),
      iso(now - CLAIM_MS),
    ]);
    const groups = Map.groupBy(
      claimed,
      ({ emailId, recipient, network }) => `${emailId} ${recipient} ${network}`,
    );
    await Promise.all([...groups.values()].map((visits) => this.#tell(visits)));
    return claimed.length;
  }

  /**
   * Reports the visits of one network to the email, in their order; after a crash another judge continues.
   * When a report fails, the visits before it are not reported again: an email knows the latest visit alone,
   * and would count the others twice. One that comes before the outcome of an attempt is judged again later.
   */
  async #tell(visits: readonly ClaimedVisit[]): Promise<void> {
    const { database, engine } = this.deps;
    const isScanner = visits.some(({ isKnown }) => isKnown) || areOfScanner(visits);
    const told: string[] = [];
    try {
      for (const visit of visits) {
        const via = isScanner ? 'scanner' : visitorNamed(visit.userAgent ?? '');
        const result = await engine.tell('email', visit.emailId, reportOf(visit, via));
        if (isBeforeOutcome(result, visit.recipient)) break;
        told.push(visit.id);
      }
    } finally {
      if (told.length > 0)
        await database.read((orm) =>
          orm.update(earlyVisits).set({ isScanner }).where(inArray(earlyVisits.id, told)),
        );
    }
  }
}

const iso = (at: number): string => new Date(at).toISOString();
