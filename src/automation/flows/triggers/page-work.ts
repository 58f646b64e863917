import type { Engine } from '../../../engine/engine.ts';
import type { Database } from '../../../platform/db/database.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import type { TestClocks } from '../../../sending/emails/commands.ts';
import { type FilterTime, SlowFilter } from '../definition/filters.ts';
import type { Enrol, EnrolTime, Occurrence, RunClock } from './enrol.ts';
import { type Activity, type Listener, type Wake, waker } from './wake.ts';

const LISTENERS = `select f.workspace_id as "workspaceId", f.livemode, f.id as "flowId", f.published_version as version,
  f.trigger_type as trigger, f.listens_to as "listensTo", f.since_position::text as since,
  (extract(epoch from f.scanned_to) * 1000)::float8 as "scannedTo"
from flows f join workspaces w on w.id = f.workspace_id and w.archived_at is null
where f.status = 'active' and f.deleted_at is null`;

/**
 * The flows and runs that wait for an activity.
 * @throws UnavailableError
 */
export const readListeners = (database: Database): Promise<readonly Listener[]> =>
  database.query<Listener>(LISTENERS);

/**
 * The flows of a workspace's test environment that begin runs on dates of its contacts.
 * @throws UnavailableError
 */
export const readDatedTestListeners = (
  database: Database,
  workspaceId: string,
): Promise<readonly Listener[]> =>
  database.query<Listener>(
    `${LISTENERS} and f.workspace_id = $1 and not f.livemode and f.trigger_type = 'dateProperty'`,
    [workspaceId],
  );

/**
 * In which of the workspaces that listen a contact is, whether it began there, and whether its import begins
 * flows. Contacts are looked up one by one and by the primary key, as in `enrol.ts`.
 */
const PLACE = `select a.ord, c.workspace_id as "workspaceId", c.created_at = a.at as "isNew", coalesce(i.trigger_flows, true) as triggers
from json_to_recordset($1::text::json) as a(ord integer, contact_id text, livemode boolean, at timestamptz, import_id text)
cross join unnest($2::text[]) as w(id)
cross join lateral (
  select workspace_id, created_at from contacts
  where workspace_id = w.id and livemode = a.livemode and id >= a.contact_id and id <= a.contact_id order by id limit 1
) c
left join contact_imports i on i.id = a.import_id`;

interface ContactPlace {
  readonly ord: number;
  readonly workspaceId: string;
  readonly isNew: boolean;
  readonly triggers: boolean;
}

/** The services that working through pages calls. */
export interface PageDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly enrol: Enrol;
  /** Test clocks, which follow their own entries. */
  readonly testClocks?: () => TestClocks | undefined;
}

/** A page of activity to follow. */
export interface PageOrder {
  readonly page: readonly Activity[];
  /** The flows of the workspaces in question. */
  readonly listeners: readonly Listener[];
  /**
   * The time that their filters may take. Workspaces with slower filters are named there: the page is not
   * done for them.
   */
  readonly time: FilterTime;
  /** For whom it is done. */
  readonly isFor: (workspaceId: string) => boolean;
  /** The test clock whose entries they are; entries of others are left to them. */
  readonly clock?: RunClock | null;
}

/**
 * Begins the runs that a page begins, and wakes those that wait for it. A repetition has no second effect.
 */
export class PageWork {
  readonly #wake: Wake;

  constructor(private readonly deps: PageDeps) {
    this.#wake = waker(deps);
  }

  /** @throws UnavailableError: it is to be done again */
  async do(order: PageOrder): Promise<void> {
    const { time, isFor, clock = null } = order;
    const page = order.page.filter(({ testClockId }) => testClockId === (clock?.id ?? null));
    await this.#begin({ ...order, page });
    await this.#wake(page, time, isFor, clock);
    const others = new Set(order.page.flatMap(({ testClockId }) => testClockId ?? []));
    if (!clock && others.size > 0) await this.deps.testClocks?.()?.wake([...others]);
  }

  async #begin({ page, listeners, time, clock }: PageOrder): Promise<void> {
    const { database } = this.deps;
    const heard = page.filter((entry) => listeners.some((listener) => mayHear(listener, entry)));
    if (heard.length === 0) return;
    const asked = heard.map((entry, ord) => ({
      ord,
      contact_id: entry.contactId,
      livemode: entry.livemode,
      at: new Date(entry.at).toISOString(),
      import_id: entry.type === 'imported' ? entry.subject : entry.importId,
    }));
    const workspaces = [...new Set(listeners.map(({ workspaceId }) => workspaceId))];
    const placed = await database.query<ContactPlace>(PLACE, [JSON.stringify(asked), workspaces]);
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
      if (occurrences.length > 0)
        await this.#enrol(listener, occurrences, { filters: time, clock: clock ?? null });
    }
  }

  /** A flow that cannot begin must not keep the other flows from their runs; a database that is away does. */
  async #enrol(listener: Listener, occurrences: readonly Occurrence[], time: EnrolTime): Promise<void> {
    const { enrol, logger } = this.deps;
    try {
      await enrol(listener, occurrences, time);
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      if (error instanceof SlowFilter) return;
      logger.error({ err: error, flow: listener.flowId }, 'A flow cannot begin its runs; they are skipped.');
    }
  }
}

const TYPES: Readonly<Record<string, readonly string[]>> = {
  contactCreated: ['created', 'imported'],
  audienceJoined: ['joined'],
  audienceLeft: ['left'],
  event: ['event'],
  replied: ['replied'],
};

/** True when an entry is of the kind that a flow listens to, wherever its contact is. */
const mayHear = (listener: Listener, entry: Activity): boolean =>
  (TYPES[listener.trigger] ?? []).includes(entry.type) &&
  listener.livemode === entry.livemode &&
  (listener.listensTo === null || listener.listensTo === entry.subject) &&
  BigInt(entry.position) > BigInt(listener.since);

const occurrenceOf = ({ contactId, id, position, depth }: Activity): Occurrence => ({
  contactId,
  position,
  depth,
  key: id,
  eventId: id,
});
