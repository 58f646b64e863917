import type { Database } from '../../../platform/db/database.ts';
import { lookUp } from '../../../platform/db/distribution/terms.ts';
import type { EmailEvent } from './event-model.ts';
import { eventOf } from './views.ts';

/** The place of an event: its workspace, its email, and its own id. */
export interface EventPlace {
  readonly workspaceId: string;
  readonly emailId: string;
  readonly eventId: string;
}

interface Row {
  readonly id: string;
  readonly email_id: string;
  readonly livemode: boolean;
  readonly type: string;
  readonly recipient: string;
  readonly occurred_at: number;
  readonly data: unknown;
}

/** The columns of a recorded event in the turn `t`, for a lateral join under the alias `e`. */
export const EVENTS_OF_TURN = `json_to_recordset(t.recorded)
  as e(id text collate "C", type text, recipient integer, occurred_at timestamptz, data json)`;

/**
 * True of a turn `t` that has events. Said so that the index of positions cannot be taken for it: it begins
 * with the workspace, looks as good as the key while nothing is known of a new day, and everything of the
 * workspace was read for one email then.
 */
export const HAS_EVENTS = 'coalesce(t.position, 0) > 0';

/** The bounds of the ids leave out the partitions of other days before they are opened. */
const eventsStatement = (
  isOnNodes: boolean,
): string => `select e.id, t.email_id, t.livemode, e.type, b.recipients[e.recipient + 1] as recipient,
  (extract(epoch from e.occurred_at) * 1000)::float8 as occurred_at, e.data
from email_turns t cross join lateral ${EVENTS_OF_TURN}
${lookUp(isOnNodes, 'emails', 'b', 'b.id = t.email_id and b.id >= $3 and b.id <= $4 and b.workspace_id = t.workspace_id and b.workspace_id = any($5::text[])')}
where t.email_id = any($1::text[]) and t.email_id >= $3 and t.email_id <= $4 and ${HAS_EVENTS}
  and t.workspace_id = any($5::text[]) and e.id = any($2::text[])`;

const EVENTS = eventsStatement(false);
const EVENTS_ON_NODES = eventsStatement(true);

/**
 * Reads events of the log by their places; those that retention has taken are absent. @throws
 * UnavailableError
 */
export async function readEvents(
  database: Pick<Database, 'query'>,
  places: readonly EventPlace[],
  isOnNodes = false,
): Promise<ReadonlyMap<string, EmailEvent>> {
  const emailIds = [...new Set(places.map(({ emailId }) => emailId))].sort();
  const [lowest, highest] = [emailIds[0], emailIds.at(-1)];
  if (lowest === undefined || highest === undefined) return new Map();
  const eventIds = places.map(({ eventId }) => eventId);
  const workspaceIds = [...new Set(places.map(({ workspaceId }) => workspaceId))];
  const rows = await database.query<Row>(isOnNodes ? EVENTS_ON_NODES : EVENTS, [
    emailIds,
    eventIds,
    lowest,
    highest,
    workspaceIds,
  ]);
  return new Map(
    rows.map((row) => [
      row.id,
      eventOf({ ...row, emailId: row.email_id, occurredAt: new Date(row.occurred_at) }),
    ]),
  );
}

/** The addresses of the recipients of emails of a workspace, by the emails' ids. @throws UnavailableError */
export async function readRecipients(
  database: Pick<Database, 'query'>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const sorted = [...new Set(emailIds)].sort();
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (lowest === undefined || highest === undefined) return new Map();
  const rows = await database.query<{ id: string; recipients: readonly string[] }>(
    'select id, recipients from emails where id = any($1::text[]) and id >= $2 and id <= $3 and workspace_id = $4',
    [sorted, lowest, highest, workspaceId],
  );
  return new Map(rows.map(({ id, recipients }) => [id, recipients]));
}
