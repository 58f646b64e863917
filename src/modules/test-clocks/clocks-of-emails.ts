import type { Database } from '../../db/database.ts';
import { isId } from '../../db/ids.ts';
import { Failure, notFound } from '../../http/failure.ts';
import type { TestClocks } from '../emails/commands.ts';
import { IS_ADVANCING } from './commands.ts';
import type { ClockMover } from './mover.ts';
import { clockOfEmail, enterClock, findClock, leaveClock, MOST_EMAILS } from './store.ts';

const FULL = new Failure(
  'CONFLICT',
  `This test clock was given ${MOST_EMAILS.toLocaleString('en')} emails, which is the most.`,
  { suggestion: 'Make another test clock.' },
);
const GONE = new Failure('CONFLICT', 'The test clock of this email was deleted, so that it never leaves.', {
  suggestion: 'Send another email.',
});

/** What emails ask of test clocks. */
export function clocksOfEmails(database: Database, mover: Pick<ClockMover, 'move'>): TestClocks {
  const find: TestClocks['find'] = async (workspaceId, id) => {
    const row = isId('clk', id) ? await findClock(database, workspaceId, id) : null;
    if (!row) return notFound('test clock');
    return row.status === 'advancing' ? IS_ADVANCING : { id: row.id, now: row.now_at };
  };
  return {
    find,
    async enter(workspaceId, clock) {
      if (await enterClock(database, workspaceId, clock)) return null;
      const row = await findClock(database, workspaceId, clock.id);
      if (!row) return notFound('test clock');
      return row.emails >= MOST_EMAILS ? FULL : IS_ADVANCING;
    },
    entered: (workspaceId, { id }) => void mover.move({ workspace_id: workspaceId, id }),
    left: (workspaceId, { id }) => leaveClock(database, workspaceId, id),
    async ofEmail(workspaceId, emailId, isToGoOn) {
      const found = await clockOfEmail(database, workspaceId, emailId);
      if (!found) return null;
      if (found.status === 'advancing') return IS_ADVANCING;
      return found.status === null && isToGoOn ? GONE : { id: found.id, now: found.now_at };
    },
  };
}
