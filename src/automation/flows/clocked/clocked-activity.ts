import type { ClockedActors } from '../../../engine/runtime/clocked.ts';
import type { TestClocks } from '../../../sending/emails/commands.ts';
import { FilterTime } from '../definition/filters.ts';
import { FOLLOWED_BY_CLOCK, READ_OF_CLOCK } from '../triggers/activity-log.ts';
import { type PageDeps, PageWork, readListeners } from '../triggers/page-work.ts';
import type { Activity } from '../triggers/wake.ts';

/** Entries that are followed together. */
const PAGE = 200;
/** The time for a workspace's filters on a page; a slower filter begins no run, and wakes none. */
const FILTERS_MS = 20_000;

/**
 * Follows the activity of test clocks' contacts as the clocks advance: at the moment that a clock shows when
 * it comes there. An entry counts as followed once all its effects are durable; following it again has no
 * second effect.
 */
export function clockedActivity(
  deps: PageDeps & { readonly testClocks: () => TestClocks | undefined },
): ClockedActors {
  const { database, clock: realTime, testClocks } = deps;
  const work = new PageWork(deps);
  return {
    open({ id, workspaceId }) {
      let page: readonly Activity[] = [];
      return {
        async next() {
          page = await database.query<Activity>(READ_OF_CLOCK, [id, PAGE]);
          return page.length > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
        },
        async move(now) {
          const listeners = (await readListeners(database)).filter((one) => one.workspaceId === workspaceId);
          const standing = { id, now };
          await work.do({
            page,
            listeners,
            isFor: (other) => other === workspaceId,
            time: new FilterTime({
              monotonic: () => realTime.monotonic(),
              mostMs: FILTERS_MS,
              isBrief: false,
              leavesOut: true,
            }),
            clock: {
              ...standing,
              admit: async (count) =>
                (await testClocks()?.admit(workspaceId, standing, { what: 'runs', count })) ?? null,
            },
          });
          await database.query(FOLLOWED_BY_CLOCK, [
            page.map(({ contactId }) => contactId),
            page.map((entry) => entry.id),
          ]);
        },
      };
    },
    // Entries that were not followed by then are dropped.
    async close({ id }) {
      for (;;) {
        const left = await database.query<Activity>(READ_OF_CLOCK, [id, PAGE]);
        if (left.length === 0) return;
        await database.query(FOLLOWED_BY_CLOCK, [
          left.map(({ contactId }) => contactId),
          left.map((entry) => entry.id),
        ]);
      }
    },
  };
}
