import type { Database } from '../../platform/db/database.ts';
import { isId } from '../../platform/db/ids.ts';
import { Failure, notFound } from '../../platform/errors/failure.ts';
import type { ClockUsage, TestClocks } from '../emails/commands.ts';
import { IS_ADVANCING } from './commands.ts';
import type { ClockMover } from './mover.ts';
import {
  admitToClock,
  clockOfContact,
  clockOfEmail,
  enterClock,
  findClock,
  leaveClock,
  MOST,
  noteArrivals,
  noteRefusedRuns,
} from './store.ts';

const NAMES: Readonly<Record<ClockUsage['what'], string>> = {
  emails: 'emails',
  contacts: 'contacts',
  runs: 'runs of flows',
};
const fullOf = (what: ClockUsage['what']): Failure =>
  new Failure(
    'CONFLICT',
    `This test clock has had ${MOST[what].toLocaleString('en')} ${NAMES[what]}, the maximum.`,
    { suggestion: 'Create another test clock.' },
  );
const GONE = new Failure(
  'CONFLICT',
  'The test clock of this email was deleted, so the email is never sent.',
  {
    suggestion: 'Send another email.',
  },
);
const ONE_EMAIL: ClockUsage = { what: 'emails', count: 1 };

/** The functions of test clocks that other modules use. */
export function clocksOfOthers(database: Database, mover: Pick<ClockMover, 'move'>): TestClocks {
  const find: TestClocks['find'] = async (workspaceId, id) => {
    const row = isId('clk', id) ? await findClock(database, workspaceId, id) : null;
    if (!row) return notFound('test clock');
    return row.status === 'advancing' ? IS_ADVANCING : { id: row.id, now: row.now_at };
  };
  /** The reason why the clock refused more. */
  const refusal = async (workspaceId: string, id: string, { what, count }: ClockUsage): Promise<Failure> => {
    const row = await findClock(database, workspaceId, id);
    if (!row) return notFound('test clock');
    return row[what] + count > MOST[what] ? fullOf(what) : IS_ADVANCING;
  };
  return {
    find,
    async enter(workspaceId, clock, more = ONE_EMAIL) {
      const has = await enterClock(database, workspaceId, clock, more);
      return has ? null : refusal(workspaceId, clock.id, more);
    },
    async admit(workspaceId, { id }, more) {
      const has = await admitToClock(database, workspaceId, id, more);
      if (has) return null;
      // No request waits for an answer here: the clock's `runsRefused` shows it.
      if (more.what === 'runs') await noteRefusedRuns(database, workspaceId, id, more.count);
      return refusal(workspaceId, id, more);
    },
    entered: (workspaceId, { id }) => void mover.move({ workspace_id: workspaceId, id }),
    left: (workspaceId, { id }, more = ONE_EMAIL) => leaveClock(database, workspaceId, id, more),
    async wake(ids) {
      for (const name of await noteArrivals(database, ids)) void mover.move(name);
    },
    async ofContact(workspaceId, contactId) {
      const id = await clockOfContact(database, contactId);
      return id === null ? null : find(workspaceId, id);
    },
    async ofEmail(workspaceId, emailId, isToGoOn) {
      const found = await clockOfEmail(database, workspaceId, emailId);
      if (!found) return null;
      if (found.status === 'advancing') return IS_ADVANCING;
      return found.status === null && isToGoOn ? GONE : { id: found.id, now: found.now_at };
    },
  };
}
