import type { Duty } from '../../../engine/duties/duty.ts';
import type { Database } from '../../../platform/db/database.ts';
import { FilterTime } from '../definition/filters.ts';
import { READ_OF_WORKSPACE } from './activity-log.ts';
import { type PageDeps, PageWork, readListeners } from './page-work.ts';
import type { Activity } from './wake.ts';

/** Entries of the log that are looked through together. */
const PAGE = 1_000;
/**
 * The least time for which a workspace keeps its own cursor, so that one that is slow now and then costs the
 * others little.
 */
const AWAY_MS = 600_000;
/** The time that a workspace's filters may take of one turn. */
const TURN_MS = 20_000;
/** The time after which another instance may take the turn of one that is gone. */
const LEASE_MS = 60_000;
/** The waits before a single entry that timed out is tried again. After the last of them it is skipped. */
const RETRIES_MS = [5_000, 60_000] as const;
/** Turns of one run of the duty, of which there is one a second. */
const BUDGET_MS = 3_000;
/** Room for orders that is waited for, as the follower does. */
const LEAST_ROOM = 2_000;

const LAG = `insert into flow_laggards (workspace_id, position, id, size, next_at, returns_at)
select w, $2::bigint, $3::text, ${PAGE / 4}, $4::timestamptz, $4::timestamptz + interval '${AWAY_MS} milliseconds' from unnest($1::text[]) w
on conflict (workspace_id) do nothing`;

/**
 * Lets workspaces follow by themselves from a place on: their filters have taken too long. @throws
 * UnavailableError
 */
export const lag = (
  database: Database,
  workspaces: readonly string[],
  place: { readonly position: string; readonly id: string },
  now: number,
): Promise<unknown> =>
  database.query(LAG, [workspaces, place.position, place.id, new Date(now).toISOString()]);

/** Only the follower lets them return, between two pages: so nothing is between their place and its. */
const RETURN = `with returned as (
  delete from flow_laggards l using flow_feed f
  where f.one and f.follower = $1 and (l.position, l.id) >= (f.position, f.id) and l.returns_at <= $2::timestamptz
  returning l.workspace_id
)
select l.workspace_id as id from flow_laggards l where l.workspace_id not in (select r.workspace_id from returned r)`;

/**
 * The workspaces with their own cursor. One that has caught up rejoins the others. @throws UnavailableError
 */
export async function laggards(
  database: Database,
  follower: string,
  now: number,
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>(RETURN, [follower, new Date(now).toISOString()]);
  return new Set(rows.map(({ id }) => id));
}

const CLAIM = `update flow_laggards l set next_at = $1::timestamptz + interval '${LEASE_MS} milliseconds'
from (
  select c.workspace_id, f.position, f.id from flow_laggards c, flow_feed f
  where f.one and c.next_at <= $1::timestamptz and (c.position, c.id) < (f.position, f.id)
  order by c.next_at limit 1 for update of c skip locked
) n where l.workspace_id = n.workspace_id
returning l.workspace_id as "workspaceId", l.position::text, l.id, l.size, l.tries,
  n.position::text as "feedPosition", n.id as "feedId"`;

/** Another instance may have taken its turn meanwhile. $1 workspace, $2 and $3 the place that was read. */
const OWN = 'where workspace_id = $1 and (position, id) = ($2::bigint, $3::text)';
const ADVANCE = `update flow_laggards set position = $4::bigint, id = $5, size = $6::integer, tries = 0, next_at = $7::timestamptz ${OWN}`;
const RETRY = `update flow_laggards set size = $4::integer, tries = $5::integer, next_at = $6::timestamptz,
  returns_at = $7::timestamptz ${OWN}`;

interface Laggard {
  readonly workspaceId: string;
  readonly position: string;
  readonly id: string;
  readonly size: number;
  readonly tries: number;
  readonly feedPosition: string;
  readonly feedId: string;
}

type OwnActivity = Activity & { readonly isOwn: boolean };

/**
 * Follows the activity of contacts for the workspaces with slow filters, one turn after the other, up to the
 * cursor of the others. A page that takes too long is tried with fewer entries; a single entry that still
 * does after two more tries is skipped.
 */
export class Laggards {
  readonly #work: PageWork;

  constructor(private readonly deps: PageDeps) {
    this.#work = new PageWork(deps);
  }

  get duty(): Duty {
    return {
      name: 'flowLaggards',
      pattern: '* * * * * *',
      asks: (now) => `exists (select from flow_laggards where next_at <= ${now})`,
      run: (stop) => this.follow(stop),
    };
  }

  /** Takes turns for a while. @throws UnavailableError */
  async follow(stop?: AbortSignal): Promise<void> {
    const { database, engine, clock } = this.deps;
    const end = clock.monotonic() + BUDGET_MS;
    while (stop?.aborted !== true && clock.monotonic() < end && engine.room('flowRun') >= LEAST_ROOM) {
      const [laggard] = await database.query<Laggard>(CLAIM, [this.#after(0)]);
      if (!laggard) return;
      await this.#turn(laggard);
    }
  }

  #after(ms: number): string {
    return new Date(this.deps.clock.now() + ms).toISOString();
  }

  async #turn(laggard: Laggard): Promise<void> {
    const { database, clock } = this.deps;
    const { workspaceId, position, id, feedPosition, feedId, size } = laggard;
    const looked = await database.query<OwnActivity>(
      READ_OF_WORKSPACE,
      [position, id, feedPosition, feedId, workspaceId, PAGE],
      { isSearch: true },
    );
    const own = looked.filter(({ isOwn }) => isOwn);
    const page = own.slice(0, size);
    const leavesOut = size === 1 && laggard.tries >= RETRIES_MS.length;
    const time = new FilterTime({
      monotonic: () => clock.monotonic(),
      mostMs: TURN_MS,
      isBrief: false,
      leavesOut,
    });
    if (page.length > 0) {
      const listeners = await readListeners(database);
      const isFor = (other: string) => other === workspaceId;
      await this.#work.do({
        page,
        listeners: listeners.filter((one) => isFor(one.workspaceId)),
        time,
        isFor,
      });
    }
    const slow = time.slow.get(workspaceId);
    if (slow && !leavesOut) return this.#retry(laggard);
    if (slow) this.#tell(laggard, slow, page);
    const last = own.length > page.length ? page.at(-1) : looked[PAGE - 1];
    const place = last ?? { position: feedPosition, id: feedId };
    await database.query(ADVANCE, [
      workspaceId,
      position,
      id,
      place.position,
      place.id,
      Math.min(size * 2, PAGE),
      this.#after(0),
    ]);
  }

  async #retry({ workspaceId, position, id, size, tries }: Laggard): Promise<void> {
    const waitMs = size > 1 ? 0 : (RETRIES_MS[tries] ?? 0);
    await this.deps.database.query(RETRY, [
      workspaceId,
      position,
      id,
      Math.ceil(size / 4),
      size > 1 ? tries : tries + 1,
      this.#after(waitMs),
      this.#after(AWAY_MS),
    ]);
  }

  #tell({ workspaceId }: Laggard, err: Error, page: readonly Activity[]): void {
    this.deps.logger.error(
      { err, workspace: workspaceId, entry: page[0]?.id },
      'The filters of a workspace take too long for an activity of a contact; its flows skip it.',
    );
  }
}
