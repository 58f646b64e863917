import { defineModule, offered } from '../module.ts';
import { clocksOfOthers } from './clocks-of-others.ts';
import type { TestClockCommands } from './commands.ts';
import { ClockMover } from './mover.ts';
import { testClockRoutes } from './routes.ts';

/** Clocks that stand still until they are advanced: test mail can wait by one of them instead of the real time. */
export const testClocksModule = defineModule<TestClockCommands>({
  name: 'testClocks',
  tags: [
    {
      segment: 'test-clocks',
      name: 'Test clocks',
      description: 'Clocks that stand still until they are advanced, for test mail to wait by.',
    },
  ],
  routes: testClockRoutes,
  open: ({ database, logger }) => ({
    connect({ offers }) {
      // What contacts did goes first, since it begins runs, and what leaves last, since everything else may make it.
      const clocked = () => [
        ...[
          offered(offers, 'clockedActivity'),
          offered(offers, 'clockedDates'),
          offered(offers, 'clockedRuns'),
        ],
        ...[offered(offers, 'clockedEmails'), offered(offers, 'clockedDeliveries')],
      ];
      const mover = new ClockMover({ database, logger, clocked });
      offers.testClocks = clocksOfOthers(database, mover);
      return {
        deps: { database, mover },
        duties: [mover.duty],
        // Whoever waits for a clock to arrive would hold a stop up for a minute; another process, or the next start, goes on.
        endWaits: () => void mover.stop(),
        close: () => mover.stop(),
      };
    },
  }),
});
