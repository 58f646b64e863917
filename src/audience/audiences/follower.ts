import { and, eq, sql } from 'drizzle-orm';
import type { Duty } from '../../engine/duties/duty.ts';
import { type Database, PREPARED } from '../../platform/db/database.ts';
import { audiences, audienceWalks } from '../../platform/db/schema/audiences.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { Scope } from '../contacts/queries.ts';
import { ownAudiences } from './filter.ts';
import { type FollowedAudience, noteMatches } from './matches.ts';
import { matchAudience } from './queries.ts';

/** The services that following dynamic audiences calls. */
export interface FollowerDeps {
  readonly database: Database;
  readonly clock: Clock;
}

/** The time between the starts of two walks through the contacts of an environment. */
const EVERY_MS = 20_000;
/** The pause of an environment without dynamic audiences. Creating one ends it. */
const REST_MS = 3_600_000;
/** The lease of a walk: other instances leave it to its holder for this time. */
const LEASE_MS = 30_000;
/** A filter becomes visible some time after its timestamp. No statement takes longer than this. */
const COMMITTED_MS = 10_000;
/**
 * The work of one run. With a run every two seconds this is a tenth of one connection, for any number of
 * contacts.
 */
const BUDGET_MS = 200;
/**
 * A statement that takes longer, as planning thousands of conditions does, is followed by a pause of this
 * many times its duration.
 */
const RESTS = 9;
/**
 * The conditions that one statement evaluates, at 1 to 3 µs each, and the most contacts, so that it ends soon
 * on a slow machine.
 */
const ASKED = 20_000;
const MOST_CONTACTS = 2_000;
const LEAST_CONTACTS = 100;
/** The rows that one statement removes. */
const BATCH = 2_000;

interface Walk {
  readonly workspace_id: string;
  readonly livemode: boolean;
  /** Epoch milliseconds. */
  readonly began: number;
  readonly after: string;
}

/** $1 now, $2 until when others leave it alone. Takes the walk that has waited longest. */
const CLAIM = `update audience_walks set next_at = $2::timestamptz, began_at = case when after = '' then $1::timestamptz else began_at end
where (workspace_id, livemode) = (
  select workspace_id, livemode from audience_walks where next_at <= $1::timestamptz order by next_at limit 1 for update skip locked
) returning workspace_id, livemode, (extract(epoch from began_at) * 1000)::float8 as began, after`;

/**
 * $3 since when audiences were asked for from the beginning of the walk on, $4 when to begin the next one.
 */
const END = `with known as (
  update audiences set is_followed = true
  where workspace_id = $1 and livemode = $2::boolean and type = 'dynamic' and not is_followed and filter_since <= $3::timestamptz
)
update audience_walks set after = '', next_at = $4::timestamptz where workspace_id = $1 and livemode = $2::boolean`;

const SWEEP = `delete from audience_matches where (workspace_id, livemode, contact_id) in (
  select workspace_id, livemode, contact_id from audience_matches where workspace_id = $1 and livemode = $2::boolean limit ${BATCH}
) returning 1 as one`;

/**
 * Records which contacts join and leave dynamic audiences. The result of a filter changes with the contact,
 * its activity, another audience or time alone, and no event reports that. So all contacts are evaluated
 * every 20 seconds, for all audiences of their environment at once. If this would take more than a tenth of
 * the time of one connection, the evaluation pauses for nine times its duration.
 */
export const audienceFollower = (deps: FollowerDeps): Duty => ({
  name: 'audienceFollower',
  pattern: '*/2 * * * * *',
  asks: (now) => `exists (select from audience_walks where next_at <= ${now})`,
  async run(stop) {
    const { clock } = deps;
    const end = clock.monotonic() + BUDGET_MS;
    while (!stop?.aborted && clock.monotonic() < end && (await proceed(deps)));
  },
});

/** Continues the walk that is due, for one statement; false where none is due. @throws UnavailableError */
export async function proceed({ database, clock }: FollowerDeps): Promise<boolean> {
  const now = clock.now();
  const [walk] = await database.query<Walk>(CLAIM, [iso(now), iso(now + LEASE_MS)]);
  if (!walk) return false;
  const { workspace_id: workspaceId, livemode, began, after } = walk;
  const scope = { workspaceId, livemode };
  const followed = await followedIn(database, scope, now);
  if (followed.length === 0) {
    const left = await database.query(SWEEP, [workspaceId, livemode]);
    await continueAt(database, scope, '', now + (left.length < BATCH ? REST_MS : 0));
    return true;
  }
  const most = Math.min(MOST_CONTACTS, Math.max(LEAST_CONTACTS, Math.round(ASKED / followed.length)));
  const asked = clock.monotonic();
  const { last, contacts } = await noteMatches(database, { ...scope, after, most, now }, followed);
  const took = clock.monotonic() - asked;
  const rested = clock.now() + (took > BUDGET_MS ? took * RESTS : 0);
  if (last !== null && contacts === most) await continueAt(database, scope, last, rested);
  else {
    const next = Math.max(began + EVERY_MS, rested, clock.now() + 1_000);
    await database.query(END, [workspaceId, livemode, iso(began - COMMITTED_MS), iso(next)]);
  }
  return true;
}

/** Stores the last contact that was evaluated, and the time of the next statement. */
const continueAt = (database: Database, scope: Scope, after: string, at: number): Promise<unknown> =>
  database.read((orm) =>
    orm
      .update(audienceWalks)
      .set({ after, nextAt: new Date(at) })
      .where(
        and(eq(audienceWalks.workspaceId, scope.workspaceId), eq(audienceWalks.livemode, scope.livemode)),
      ),
  );

async function followedIn(
  database: Database,
  scope: Scope,
  now: number,
): Promise<readonly FollowedAudience[]> {
  // The time is read as text, because a Date has no microseconds.
  const since = sql<
    string | null
  >`case when ${audiences.isFollowed} then null else ${audiences.filterSince}::text end`;
  const rows = await database.read(
    (orm) =>
      orm
        .select({ id: audiences.id, since })
        .from(audiences)
        .where(and(ownAudiences(scope), eq(audiences.type, 'dynamic')))
        .orderBy(audiences.id),
    PREPARED,
  );
  return Promise.all(
    rows.map(async ({ id, since }) => ({
      id,
      since,
      // An audience that was deleted just now has no contacts.
      condition: (await matchAudience({ database }, scope, id, now))?.condition ?? sql`false`,
    })),
  );
}

const iso = (at: number): string => new Date(at).toISOString();
