import type { InsertRule } from '../../../http/module.ts';
import type { Database } from '../../../platform/db/database.ts';

const HAS_CHOSEN = 'message_id is not null';

const TAKEN = `select true as one from message_ids
where workspace_id = $1 and livemode = $2::boolean and message_id = $3 and until > $4::text::timestamptz`;

/** True when another email has a Message-ID. @throws UnavailableError */
export const isTaken = async (
  database: Pick<Database, 'query'>,
  { workspaceId, livemode }: { readonly workspaceId: string; readonly livemode: boolean },
  messageId: string,
  now: number,
): Promise<boolean> =>
  (await database.query(TAKEN, [workspaceId, livemode, messageId, new Date(now).toISOString()])).length > 0;

/** The days that a Message-ID stays taken. */
export const MESSAGE_ID_DAYS = 90;

/** An email whose client has chosen its Message-ID is accepted while no other email has it, and takes it. */
export const messageIdInsertRule: InsertRule = {
  of: 'email',
  columns: 'message_id text, message_id_at timestamptz',
  conditions: [
    {
      name: 'message_id_free',
      judged: HAS_CHOSEN,
      // In one order, so that two batches with the same ids do not wait for each other.
      sql: (input) => `select i.ord from (
    select distinct on (workspace_id, livemode, message_id) * from ${input} where ${HAS_CHOSEN}
    order by workspace_id, livemode, message_id, ord
  ) i where is_free_message_id(i.workspace_id, i.livemode, i.message_id, i.message_id_at)`,
    },
  ],
  writes: [
    (admitted) => `insert into message_ids (workspace_id, livemode, message_id, email_id, until)
  select a.workspace_id, a.livemode, a.message_id, a.id, a.message_id_at + interval '${MESSAGE_ID_DAYS} days'
  from ${admitted} a where a.${HAS_CHOSEN}
  on conflict (workspace_id, livemode, message_id) do update set email_id = excluded.email_id, until = excluded.until`,
  ],
};
