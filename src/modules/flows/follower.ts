import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import type { Duty } from '../../duties/duty.ts';
import type { Engine } from '../../engine/engine.ts';
import { Unavailable } from '../../errors/unavailable.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../time/clock.ts';
import { HORIZON } from '../events/queries.ts';
import { Dates } from './dated.ts';
import type { Enrol, Occurrence } from './enrol.ts';
import { type Activity, type Listener, type Wake, waker } from './wake.ts';

/** Entries of the log that are worked through together. */
const PAGE = 1_000;
/** Room for so many orders is waited for: what is begun must not outrun what is done, and small pages are not worth their statements. */
const LEAST_ROOM = 2_000;
/** Between two looks while there is something to do: what comes meanwhile is read together. */
const PAUSE_MS = 50;
/** For so long it goes on looking where nothing is left: of what comes close together the last need not wait for the next second. */
const LINGER_MS = 150;
/** The longest time of one run, of which there is one a second: dates have to be looked through as well. */
const LONGEST_MS = 3_000;
/** How long an instance follows the log after its last sign of life. It may be wrong: what is read twice brings about nothing twice. */
const FOLLOWED_MS = 5_000;
/** Between two signs of life while it works. */
const BEAT_MS = 1_000;

/** The resources whose changes may be what a flow waits for. */
const FOLLOWED: ReadonlySet<string> = new Set(['audiences', 'contacts', 'suppressions']);

const LISTENERS = `select f.workspace_id as "workspaceId", f.livemode, f.id as "flowId", f.published_version as version,
  f.trigger_type as trigger, f.listens_to as "listensTo", f.since_position::text as since,
  (extract(epoch from f.scanned_to) * 1000)::float8 as "scannedTo"
from flows f join workspaces w on w.id = f.workspace_id and w.archived_at is null
where f.status = 'active' and f.deleted_at is null`;

/** Whether some run may wait for something. Which ones do is asked of the contacts of a page. */
const WAITERS = 'select exists (select from flow_runs where ended_at is null) as some';

/** One instance follows the log at a time; another takes over when it is silent. */
const FOLLOW = `update flow_feed set follower = $1, followed_until = $2::timestamptz + interval '${FOLLOWED_MS} milliseconds'
where one and (follower is null or follower = $1 or followed_until < $2::timestamptz)
returning position::text, id`;

/** However long a page takes. Whoever has lost its place does not take it back so. */
const BEAT = `update flow_feed set followed_until = $2::timestamptz + interval '${FOLLOWED_MS} milliseconds' where one and follower = $1`;

/** At a stop nobody has to wait until the last sign of life is old. */
const LEAVE = 'update flow_feed set follower = null where one and follower = $1';

/** Whoever has lost its place meanwhile must not move the other's. */
const ADVANCE = `update flow_feed set position = $2::bigint, id = $3, followed_until = $4::timestamptz + interval '${FOLLOWED_MS} milliseconds'
where one and follower = $1 returning 1 as one`;

const AHEAD = `with horizon as materialized (${HORIZON})
select exists (
  select from contact_activity a, horizon h where a.email_id is null and (a.position, a.id) > (f.position, f.id) and a.position < h.at
) as some, (select h.at::text from horizon h) as horizon from flow_feed f where f.one`;

/**
 * Nobody notes why a contact matches a filter: whoever has joined or left a dynamic audience may have been changed by a flow within
 * the day before.
 */
const BY_CHANGES = `case when a.by_machine then (
  select max((r.context ->> 'depth')::integer) + 1 from flow_runs r
  where r.contact_id = a.contact_id and r.started_at > a.at - interval '1 day' and exists (
    select from flow_run_log l where l.run_id = r.id and l.outcome in ('updated', 'added', 'removed'))
) end`;

/**
 * What contacts did, in the order in which it became durable; nothing before the horizon can come in between any more. What is noted of
 * an event are properties of the client's own, which must not be taken for ours.
 */
const READ = `with horizon as materialized (${HORIZON})
select a.position::text, a.id, a.contact_id as "contactId", a.livemode, a.type, a.subject,
  case when a.type in ('joined', 'left') then coalesce((a.data ->> 'depth')::integer, ${BY_CHANGES}, 0) else 0 end as depth,
  case when a.type = 'joined' then a.data ->> 'importId' end as "importId",
  (extract(epoch from a.at) * 1000)::float8 as at
from horizon h cross join lateral (
  select * from contact_activity
  where email_id is null and (position, id) > ($1::bigint, $2::text) and position < h.at
  order by position, id limit $3::integer
) a order by a.position, a.id`;

/**
 * In which of the workspaces that listen a contact is, whether it began there, and whether its import begins flows. Contacts are looked
 * up one by one and by the primary key, as in `enrol.ts`.
 */
const PLACE = `select a.ord, c.workspace_id as "workspaceId", c.created_at = a.at as "isNew", coalesce(i.trigger_flows, true) as triggers
from json_to_recordset($1::text::json) as a(ord integer, contact_id text, livemode boolean, at timestamptz, import_id text)
cross join unnest($2::text[]) as w(id)
cross join lateral (
  select workspace_id, created_at from contacts
  where workspace_id = w.id and livemode = a.livemode and id >= a.contact_id and id <= a.contact_id order by id limit 1
) c
left join contact_imports i on i.id = a.import_id`;

interface Placed {
  readonly ord: number;
  readonly workspaceId: string;
  readonly isNew: boolean;
  readonly triggers: boolean;
}

/** The services that following contacts calls. */
export interface FollowerDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly enrol: Enrol;
}

/**
 * Follows what contacts do, a second behind at most, and a quarter of one behind the requests to this instance: it begins runs, and wakes those that wait. A page counts as read once all that
 * it brought about is durable. One that is read again after a crash brings about nothing twice: an occurrence begins one run, and
 * a run takes no event at or before the last one that it took.
 */
export class Follower {
  readonly #name = crypto.randomUUID();
  readonly #wake: Wake;
  readonly #dates: Dates;
  #isWanted = false;

  constructor(private readonly deps: FollowerDeps) {
    this.#wake = waker(deps);
    this.#dates = new Dates({ ...deps, enrol: (flow, each) => this.#enrol(flow, each) });
  }

  get duty(): Duty {
    return {
      name: 'flowFollower',
      pattern: '* * * * * *',
      isWanted: () => this.#isWanted,
      run: (stop) => this.follow(stop),
    };
  }

  /** Looks soon: a request to this instance has changed what a contact is or did. */
  note({ resource }: { readonly resource: string }): void {
    this.#isWanted ||= FOLLOWED.has(resource);
  }

  /** Works through everything that is there. */
  async follow(stop?: AbortSignal): Promise<void> {
    const { database, clock } = this.deps;
    this.#isWanted = false;
    const beat = () => database.query(BEAT, [this.#name, new Date(clock.now()).toISOString()]);
    const beating = setInterval(() => void beat().catch(() => {}), BEAT_MS);
    try {
      await this.#follow(stop);
    } finally {
      clearInterval(beating);
      if (stop?.aborted) await database.query(LEAVE, [this.#name]);
    }
  }

  async #follow(stop?: AbortSignal): Promise<void> {
    const { database } = this.deps;
    // What was activated before an entry was written is seen behind it: whoever listens is asked after the log.
    const [ahead] = await database.query<{ some: boolean; horizon: string }>(AHEAD);
    const listeners = await this.#listeners();
    const dated = listeners.filter(({ trigger }) => trigger === 'dateProperty');
    const heard = listeners.filter(({ trigger }) => trigger !== 'dateProperty');
    if (ahead?.some) await this.#followEvents(ahead.horizon, heard, stop);
    if (dated.length > 0 && (await this.#place())) await this.#dates.begin(dated, stop);
  }

  async #followEvents(horizon: string, heard: readonly Listener[], stop?: AbortSignal): Promise<void> {
    const { database, clock } = this.deps;
    const [waiting] = await database.query<{ some: boolean }>(WAITERS);
    const place = await this.#place();
    if (!place) return;
    if (waiting?.some !== true && heard.length === 0) {
      // Nobody listens: what came up to here never will be heard.
      await this.#advance(horizon, '');
      return;
    }
    let { position, id } = place;
    let lingersUntil = Number.NEGATIVE_INFINITY;
    const end = clock.monotonic() + LONGEST_MS;
    while (stop?.aborted !== true && clock.monotonic() < end) {
      const room = this.deps.engine.room('flowRun');
      if (room < LEAST_ROOM) {
        await pause(PAUSE_MS);
        continue;
      }
      const most = mostRead(heard, room);
      const page = await database.query<Activity>(READ, [position, id, most]);
      const last = page.at(-1);
      if (!last) {
        if (clock.monotonic() > lingersUntil) return;
        await pause(PAUSE_MS);
        continue;
      }
      await this.#work(page, await this.#listeners());
      ({ position, id } = last);
      if (!(await this.#advance(position, id))) return;
      lingersUntil = clock.monotonic() + LINGER_MS;
      if (page.length < most) await pause(PAUSE_MS);
    }
  }

  #listeners(): Promise<readonly Listener[]> {
    return this.deps.database.query<Listener>(LISTENERS);
  }

  async #work(page: readonly Activity[], listeners: readonly Listener[]): Promise<void> {
    const { database } = this.deps;
    const heard = page.filter((entry) => listeners.some((listener) => mayHear(listener, entry)));
    if (heard.length > 0) {
      const asked = heard.map((entry, ord) => ({
        ...{
          ord,
          contact_id: entry.contactId,
          livemode: entry.livemode,
          at: new Date(entry.at).toISOString(),
        },
        import_id: entry.type === 'imported' ? entry.subject : entry.importId,
      }));
      const workspaces = [...new Set(listeners.map(({ workspaceId }) => workspaceId))];
      const placed = await database.query<Placed>(PLACE, [JSON.stringify(asked), workspaces]);
      for (const listener of listeners) {
        const occurrences = placed.flatMap(({ ord, workspaceId, isNew, triggers }) => {
          const entry = heard[ord] as Activity;
          const hears =
            workspaceId === listener.workspaceId &&
            triggers &&
            mayHear(listener, entry) &&
            (listener.trigger !== 'contactCreated' || entry.type === 'created' || isNew);
          return hears ? [occurrenceOf(entry)] : [];
        });
        if (occurrences.length > 0) await this.#enrol(listener, occurrences);
      }
    }
    await this.#wake(page);
  }

  /** A flow that cannot begin must not keep those of everybody else from theirs; a database that is away does. */
  async #enrol(listener: Listener, occurrences: readonly Occurrence[]): Promise<void> {
    const { enrol, logger } = this.deps;
    try {
      await enrol(listener, occurrences);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      logger.error({ err: error, flow: listener.flowId }, 'A flow cannot begin its runs; they are left out.');
    }
  }

  async #place(): Promise<{ readonly position: string; readonly id: string } | null> {
    const now = new Date(this.deps.clock.now()).toISOString();
    const [place] = await this.deps.database.query<{ position: string; id: string }>(FOLLOW, [
      this.#name,
      now,
    ]);
    return place ?? null;
  }

  async #advance(position: string, id: string): Promise<boolean> {
    const now = new Date(this.deps.clock.now()).toISOString();
    const rows = await this.deps.database.query(ADVANCE, [this.#name, position, id, now]);
    return rows.length > 0;
  }
}

/** What each entry may begin has to find room: a run of every flow of its workspace. */
function mostRead(heard: readonly Listener[], room: number): number {
  const byWorkspace = Map.groupBy(heard, ({ workspaceId }) => workspaceId);
  const mostFlows = Math.max(1, ...[...byWorkspace.values()].map(({ length }) => length));
  return Math.min(Math.ceil(room / mostFlows), PAGE);
}

const TYPES: Readonly<Record<string, readonly string[]>> = {
  contactCreated: ['created', 'imported'],
  audienceJoined: ['joined'],
  audienceLeft: ['left'],
  event: ['event'],
};

/** Whether an entry is what a flow listens to, wherever its contact is. */
const mayHear = (listener: Listener, entry: Activity): boolean =>
  (TYPES[listener.trigger] ?? []).includes(entry.type) &&
  listener.livemode === entry.livemode &&
  (listener.listensTo === null || listener.listensTo === entry.subject) &&
  BigInt(entry.position) > BigInt(listener.since);

const occurrenceOf = ({ contactId, id, position, depth }: Activity): Occurrence => ({
  ...{ contactId, position, depth },
  key: id,
  eventId: id,
});
