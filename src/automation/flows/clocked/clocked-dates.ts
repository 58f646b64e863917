import { occurrencesOf } from '../../../../machines/flow-run/time.ts';
import type { ClockedActors, OwnClock } from '../../../engine/runtime/clocked.ts';
import type { Database } from '../../../platform/db/database.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { ownOf } from '../../../platform/text/own-member.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';
import type { TestClocks } from '../../../sending/emails/commands.ts';
import { FilterTime } from '../definition/filters.ts';
import { definitionReader, type ReadDefinition, zoneOf } from '../runs/run-reader.ts';
import { definitionIdOf } from '../store.ts';
import type { DateTrigger } from '../triggers/dated.ts';
import type { Enrol, Occurrence, RunClock } from '../triggers/enrol.ts';
import { type PageDeps, readDatedTestListeners } from '../triggers/page-work.ts';
import type { Listener } from '../triggers/wake.ts';

/** Further than any advance goes. */
const HORIZON_MS = 740 * DAY_MS;

/** The time for a workspace's filters at one moment; a slower filter begins no run. */
const FILTERS_MS = 20_000;

const NOW = `select (extract(epoch from now_at) * 1000)::float8 as now from test_clocks where workspace_id = $1 and id = $2`;

/**
 * The contacts of a clock, at most a thousand, one by one by the primary key, with the properties that a flow
 * uses: all properties of them may be a hundred megabytes, and are read at every moment.
 */
const CONTACTS = `select c.id, w.time_zone as zone,
  coalesce((select jsonb_object_agg(p.key, p.value) from jsonb_each(c.properties) p where p.key = any($3::text[])), '{}') as properties
from test_clock_contacts t join workspaces w on w.id = $1
cross join lateral (
  select id, properties from contacts where workspace_id = $1 and not livemode and id >= t.contact_id and id <= t.contact_id order by id limit 1
) c
where t.test_clock_id = $2 order by c.id`;

interface ContactRow {
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly zone: string;
}

interface DateListener {
  readonly listener: Listener;
  readonly trigger: DateTrigger;
}

interface DueOccurrence {
  readonly at: number;
  readonly listener: Listener;
  readonly occurrence: Occurrence;
}

/**
 * The dates of the contacts of test clocks, as the clocks come to them. A clock that is resumed looks from
 * the moment that it shows, that moment included: no contact begins twice for a day. Flows that are activated
 * while a clock advances count from its next advance.
 */
export function clockedDates(
  deps: Pick<PageDeps, 'database' | 'clock' | 'logger'> & {
    readonly enrol: Enrol;
    readonly testClocks: () => TestClocks | undefined;
  },
): ClockedActors {
  const { database, enrol, testClocks, clock: realTime, logger } = deps;
  const definitionOf = definitionReader(database);

  /** A flow that cannot begin its runs keeps no clock from going on. */
  const begin = async (
    listener: Listener,
    occurrences: readonly Occurrence[],
    clock: RunClock,
    filters: FilterTime,
  ) => {
    try {
      await enrol(listener, occurrences, { clock, filters });
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      logger.error({ err: error, flow: listener.flowId }, 'A flow cannot begin its runs; they are skipped.');
    }
  };

  return {
    open(clock) {
      const days = new Days();
      let flows: readonly DateListener[] | null = null;
      let after = 0;
      let due: readonly DueOccurrence[] = [];
      return {
        async next() {
          if (flows === null) {
            flows = await datedFlows(database, definitionOf, clock);
            const [row] = await database.query<{ now: number }>(NOW, [clock.workspaceId, clock.id]);
            after = (row?.now ?? 0) - 1;
          }
          if (flows.length === 0) return Number.POSITIVE_INFINITY;
          const names = ['timeZone', ...new Set(flows.map(({ trigger }) => trigger.property))];
          const contacts = await database.query<ContactRow>(CONTACTS, [clock.workspaceId, clock.id, names]);
          due = flows.flatMap((flow) => contacts.flatMap((contact) => days.next(flow, contact, after) ?? []));
          return due.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
        },
        async move(now) {
          const standing = { id: clock.id, now };
          const monotonic = () => realTime.monotonic();
          const filters = new FilterTime({ monotonic, mostMs: FILTERS_MS, isBrief: false, leavesOut: true });
          for (const { listener } of flows ?? []) {
            const own = due.filter((one) => one.listener === listener && one.at <= now);
            if (own.length === 0) continue;
            const occurrences = own.map(({ occurrence }) => occurrence);
            await begin(
              listener,
              occurrences,
              {
                ...standing,
                admit: async (count) =>
                  (await testClocks()?.admit(clock.workspaceId, standing, { what: 'runs', count })) ?? null,
              },
              filters,
            );
          }
          after = now;
        },
      };
    },
    // A date that has not come leaves nothing.
    async close() {},
  };
}

async function datedFlows(
  database: Database,
  definitionOf: ReadDefinition,
  { workspaceId }: OwnClock,
): Promise<readonly DateListener[]> {
  const found: DateListener[] = [];
  for (const listener of await readDatedTestListeners(database, workspaceId)) {
    const definition = await definitionOf(definitionIdOf(listener.flowId, listener.version));
    if (definition?.trigger.type === 'dateProperty') found.push({ listener, trigger: definition.trigger });
  }
  return found;
}

/** The next day of each contact, computed once, because it is read at every moment of a clock. */
class Days {
  readonly #known = new Map<
    string,
    { readonly from: string; readonly days: ReturnType<typeof occurrencesOf> }
  >();

  next(
    { listener, trigger }: DateListener,
    { id, properties, zone }: ContactRow,
    after: number,
  ): DueOccurrence | null {
    const value = ownOf(properties, trigger.property);
    if (typeof value !== 'string') return null;
    const timeZone = zoneOf(properties, zone);
    const name = `${listener.flowId} ${id}`;
    const from = `${timeZone} ${value}`;
    let known = this.#known.get(name);
    if (known?.from !== from) {
      known = { from, days: occurrencesOf(value, trigger, { after, upTo: after + HORIZON_MS, timeZone }) };
      this.#known.set(name, known);
    }
    const next = known.days.find(({ at }) => at > after);
    if (!next) return null;
    const occurrence = { contactId: id, key: `${id} ${next.day}`, eventId: null, position: '0', depth: 0 };
    return { at: next.at, listener, occurrence };
  }
}
