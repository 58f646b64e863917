import { defineModule, offered } from '../module.ts';
import { clocksOfEmails } from './clocks-of-emails.ts';
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
      const emails = offered(offers, 'clockedEmails');
      const mover = new ClockMover({ database, logger, emails });
      offers.testClocks = clocksOfEmails(database, mover);
      return {
        deps: { database, emails, mover },
        duties: [mover.duty],
        // Whoever waits for a clock to arrive would hold a stop up for a minute; another process, or the next start, goes on.
        endWaits: () => void mover.stop(),
        close: () => mover.stop(),
      };
    },
  }),
});
