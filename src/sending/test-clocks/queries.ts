import { listById } from '../../http/lists/list.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import { type Failure, notFound } from '../../platform/errors/failure.ts';
import { isoOf } from '../../platform/time/clock.ts';
import { LIVE_KEY } from '../emails/commands.ts';
import type { TestClock, TestClockQuery } from './model.ts';
import { type ClockRow, COLUMNS, findClock } from './store.ts';

/** The services that reading test clocks calls. */
export interface TestClockReader {
  readonly database: Database;
}

/** A clock as it is answered. */
export const viewOf = ({
  id,
  name,
  status,
  now_at,
  target_at,
  emails,
  contacts,
  runs,
  runs_refused,
}: ClockRow): TestClock => ({
  id,
  name,
  status,
  now: isoOf(now_at),
  advancingTo: status === 'advancing' ? isoOf(target_at) : null,
  emails,
  contacts,
  runs,
  runsRefused: runs_refused,
  createdAt: isoOf(timeOfId(id)),
});

export async function getTestClock(
  { database }: TestClockReader,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<TestClock | Failure> {
  if (caller.livemode) return LIVE_KEY;
  const row = await findClock(database, caller.workspaceId, params.id);
  return row ? viewOf(row) : notFound('test clock');
}

const LIST = `select ${COLUMNS} from test_clocks where workspace_id = $1 and ($2::text is null or id < $2) and ($3::text is null or id >= $3)
order by id desc limit $4::integer`;

/** The clocks of the workspace, newest first. */
export async function listTestClocks(
  { database }: TestClockReader,
  { caller, query }: Pick<Call<unknown, TestClockQuery>, 'caller' | 'query'>,
): Promise<Page<TestClock> | Failure> {
  if (caller.livemode) return LIVE_KEY;
  return listById<ClockRow, TestClock>(
    { caller, query },
    {
      list: 'test-clocks',
      prefix: 'clk',
      rows: ({ below, from }, limit) => database.query(LIST, [caller.workspaceId, below, from, limit]),
      item: viewOf,
    },
  );
}
