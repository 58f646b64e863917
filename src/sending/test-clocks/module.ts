import type { ClockedActors } from '../../engine/runtime/clocked.ts';
import type { Module } from '../../http/module.ts';
import type { TestClocks } from '../emails/api.ts';
import { clocksOfOthers } from './clocks-of-others.ts';
import type { TestClockCommands } from './commands.ts';
import { ClockMover } from './mover.ts';
import { testClockRoutes } from './routes.ts';

interface TestClockNeeds {
  /** Everything that lives by test clocks, in the order in which it moves. */
  clocked(): readonly ClockedActors[];
}

/** Test clocks: test mail can wait by one of them instead of real time. */
export const testClocksModule: Module<TestClockCommands, TestClockNeeds, TestClocks> = {
  name: 'testClocks',
  tags: [
    {
      segment: 'test-clocks',
      name: 'Test clocks',
      description: 'Clocks for test mail, which stay at their time until you advance them.',
    },
  ],
  routes: testClockRoutes,
  open: ({ database, logger }) => ({
    connect(_, { clocked }) {
      const mover = new ClockMover({ database, logger, clocked });
      return {
        api: clocksOfOthers(database, mover),
        deps: { database, mover },
        duties: [mover.duty],
        // A request that waits for a clock would hold a stop up for a minute; another process, or the next
        // start, goes on.
        endWaits: () => void mover.stop(),
        close: () => mover.stop(),
      };
    },
  }),
};
