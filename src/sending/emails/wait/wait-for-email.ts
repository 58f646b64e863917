import type { Engine } from '../../../engine/engine.ts';
import {
  groupOf,
  mailWaitingRoom,
  type WaitQuery,
  type WantedMail,
  waitForMail,
} from '../../../http/listen/waiting.ts';
import type { Call } from '../../../http/request/route.ts';
import { findInMail } from '../../../mail/content/found.ts';
import type { WaitingRoom } from '../../../platform/async/waiting-room.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import type { EmailDetail } from '../read/answer-model.ts';
import type { AwaitedEmail } from './wait-model.ts';

/** The newest emails of a workspace that are looked through for an address. */
const MOST_LOOKED = 10_000;

/**
 * The first email of each one's workspace and environment behind an id that goes to an address, or the
 * newest. The workspace is a list of one, which is no equation: with three of them the key of the ids would
 * give the order too (`ownEmails`). The id has one bound, where the scan ends; a row as the bound ends none
 * before PostgreSQL 18. The planner does not see the number of emails in the subquery, and takes it for a
 * part: to read 10,000 it would sort what everybody sent behind the id. The first look took 9,956 pages of
 * 120,000 emails so, and takes 845.
 */
const LOOK = `select w.n, f.id
from json_to_recordset($1::text::json) as w(n integer, "workspaceId" text, livemode boolean, subject text, after text, forms json, "isNewest" boolean)
cross join lateral (
  select r.id from (
    select e.id, e.recipient_keys, e.subject from emails e
    where e.workspace_id = any(array[w."workspaceId"]) and e.livemode = w.livemode and e.id > w.after
      and e.workspace_id = any($2::text[])
    order by e.workspace_id desc, e.livemode desc, e.id desc limit (select ${MOST_LOOKED})
  ) r
  where r.recipient_keys @> array[w.forms ->> 0] and (w.subject is null or r.subject ilike w.subject)
  order by case when w."isNewest" then r.id end desc, r.id limit 1
) f`;

/** Those who wait for emails; commits of this process wake them at once, those of others within a second. */
export function emailWaitingRoom({
  database,
  engine,
  now,
}: {
  readonly database: Database;
  readonly engine: Pick<Engine, 'listen'>;
  now(): number;
}): WaitingRoom<WantedMail> {
  const room = mailWaitingRoom('em', LOOK, { database, now });
  engine.listen(({ name }, drafts) => {
    if (name !== 'email' || room.isEmpty) return;
    for (const { before, after } of drafts)
      if (before === null) room.came(groupOf(after.workspaceId, after.livemode));
  });
  return room;
}

/** Answers as soon as an email to the address is there. */
export async function awaitEmail(
  room: WaitingRoom<WantedMail>,
  call: Call<unknown, WaitQuery>,
  read: (id: string) => Promise<EmailDetail | Failure>,
): Promise<AwaitedEmail | Failure> {
  const id = await waitForMail(room, 'em', call);
  if (id instanceof Failure) return id;
  const detail = await read(id);
  if (detail instanceof Failure) return detail;
  return { ...detail, ...findInMail(detail.subject, detail.text, detail.html) };
}
