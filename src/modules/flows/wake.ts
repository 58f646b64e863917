import type { Database } from '../../db/database.ts';
import type { Engine } from '../../engine/engine.ts';
import { Unavailable } from '../../errors/unavailable.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../time/clock.ts';
import type { Beginning } from './enrol.ts';
import { whoMatches } from './filters.ts';
import { definitionReader } from './run-reader.ts';

/** A flow that waits for something to begin its runs. */
export interface Listener extends Beginning {
  readonly trigger: string;
  /** The id of an audience, or the name of an event; null where its trigger has neither. */
  readonly listensTo: string | null;
  /** Only what stands behind it in the log. */
  readonly since: string;
  /** How far its dates were looked through (epoch ms). */
  readonly scannedTo: number | null;
}

/** An entry of what contacts did. */
export interface Activity {
  readonly position: string;
  readonly id: string;
  readonly contactId: string;
  readonly livemode: boolean;
  readonly type: string;
  readonly subject: string | null;
  readonly depth: number;
  readonly importId: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Tells runs what their contacts did. */
export type Wake = (page: readonly Activity[]) => Promise<void>;

/** Runs that wait for one of these names: by the index on the contact and the name. */
const AWAITING = `select r.id, r.contact_id as "contactId", r.awaits, r.step, r.workspace_id as "workspaceId", r.livemode,
  r.definition_id as "definitionId", r.context ->> 'occurrence' as occurrence
from flow_runs r where r.awaits is not null and r.contact_id = any($1) and r.awaits = any($2)`;

const WATCHED = `select r.id, r.contact_id as "contactId", r.awaits, r.step, r.workspace_id as "workspaceId", r.livemode,
  r.definition_id as "definitionId", r.context ->> 'occurrence' as occurrence
from flow_runs r where r.is_watched and r.ended_at is null and r.contact_id = any($1)`;

interface OpenRun {
  readonly id: string;
  readonly contactId: string;
  readonly awaits: string | null;
  readonly step: string | null;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly definitionId: string;
  readonly occurrence: string | null;
}

/** What runs are told with. */
export interface WakeDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Makes the function that tells runs. It throws what could not be told: the page is then told again. */
export function waker({ database, engine, clock, logger }: WakeDeps): Wake {
  const definitionOf = definitionReader(database);

  /** Of these runs those for which a filter of their version holds, asked with one statement for each version and step. */
  async function matching<Pair extends { readonly run: OpenRun; readonly eventId: string | null }>(
    pairs: readonly Pair[],
    filterOf: (definition: NonNullable<Awaited<ReturnType<typeof definitionOf>>>, step: string) => unknown,
  ): Promise<readonly Pair[]> {
    const groups = Map.groupBy(pairs, ({ run }) => `${run.definitionId} ${run.step}`);
    const found = [...groups.values()].map(async (group) => {
      const [{ run }] = group as [Pair];
      const definition = await definitionOf(run.definitionId);
      if (!definition) return [];
      const asked = group.map((pair) => ({ contactId: pair.run.contactId, eventId: pair.eventId }));
      const filter = filterOf(definition, run.step ?? '');
      const answers = await whoMatches(database, run, filter, asked, clock.now());
      return group.filter((_, index) => answers[index]);
    });
    return (await Promise.all(found)).flat();
  }

  /**
   * Tells each run the first event that it waits for, and asks again: what it waits for then may have come behind it in this page.
   */
  async function wakeAwaiting(page: readonly Activity[]): Promise<void> {
    const events = page.filter(({ type }) => type === 'event');
    const contacts = [...new Set(events.map(({ contactId }) => contactId))];
    const names = [...new Set(events.map(({ subject }) => subject ?? ''))];
    const told = new Map<string, number>();
    while (events.length > 0) {
      const runs = await database.query<OpenRun>(AWAITING, [contacts, names]);
      const byContact = Map.groupBy(runs, ({ contactId }) => contactId);
      const pairs = events.flatMap((event, place) =>
        (byContact.get(event.contactId) ?? [])
          .filter(({ id, awaits }) => awaits === event.subject && place > (told.get(id) ?? -1))
          .map((run) => ({ run, event, place, eventId: event.id })),
      );
      const wanted = await matching(pairs, ({ steps }, key) => {
        const step = steps.find((one) => one.key === key);
        return step?.type === 'waitForEvent' ? step.config.filter : undefined;
      });
      const first = new Map<string, (typeof wanted)[number]>();
      for (const pair of wanted)
        if (pair.place < (first.get(pair.run.id)?.place ?? events.length)) first.set(pair.run.id, pair);
      if (first.size === 0) return;
      for (const [id, { place }] of first) told.set(id, place);
      await allTold(
        [...first.values()].map(({ run, event: { subject, position } }) =>
          engine.tell('flowRun', run.id, {
            ...{ type: 'event.came', at: clock.now(), name: subject ?? '', position },
          }),
        ),
      );
    }
  }

  async function endWatched(page: readonly Activity[]): Promise<void> {
    const contacts = [...new Set(page.map(({ contactId }) => contactId))];
    const runs = await database.query<OpenRun>(WATCHED, [contacts]);
    if (runs.length === 0) return;
    const pairs = runs.map((run) => ({ run, eventId: run.occurrence }));
    const over = await matching(pairs, ({ exitWhen }) => exitWhen);
    await allTold(
      over.map(({ run }) =>
        engine.tell('flowRun', run.id, { type: 'exit.requested', at: clock.now(), reason: 'goal' }),
      ),
    );
  }

  /** A run that cannot take what it is told keeps nobody else waiting; a database that is away does. */
  async function allTold(telling: readonly Promise<unknown>[]): Promise<void> {
    for (const result of await Promise.allSettled(telling)) {
      if (result.status === 'fulfilled') continue;
      if (result.reason instanceof Unavailable) throw result.reason;
      logger.error({ err: result.reason }, 'A run could not be told what its contact did.');
    }
  }

  return async (page) => {
    await endWatched(page);
    await wakeAwaiting(page);
  };
}
