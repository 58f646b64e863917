import { mailWaitingRoom, type WaitQuery, type WantedMail, waitForMail } from '../../http/listen/waiting.ts';
import type { Call } from '../../http/request/route.ts';
import { findInMail } from '../../mail/content/found.ts';
import type { WaitingRoom } from '../../platform/async/waiting-room.ts';
import type { Database } from '../../platform/db/database.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { AwaitedCapture } from './model.ts';
import { type CapturedReader, capturedDetail } from './queries.ts';

/** The newest captured copies of a workspace that are looked through for an address. */
const MOST_LOOKED = 10_000;

const LOOK = `select w.n, f.id
from json_to_recordset($1::text::json) as w(n integer, "workspaceId" text, subject text, after text, forms json, "isNewest" boolean)
cross join lateral (
  select r.id from (
    select c.id, c.email_id, c.recipient from captured c where c.workspace_id = w."workspaceId" and c.id > w.after and c.workspace_id = any($2::text[])
    order by c.id desc limit ${MOST_LOOKED}
  ) r
  where lower(r.recipient) in (select json_array_elements_text(w.forms))
    and (w.subject is null or exists (select from emails e where e.id = r.email_id and e.workspace_id = any($2::text[]) and e.subject ilike w.subject))
  order by case when w."isNewest" then r.id end desc, r.id limit 1
) f`;

/**
 * The requests that wait for captured mail; a copy of this process wakes them at once, one of another within
 * a second.
 */
export const capturedWaitingRoom = (database: Database, now: () => number): WaitingRoom<WantedMail> =>
  mailWaitingRoom('cap', LOOK, { database, now });

const ONLY_LIVE = new Failure('FORBIDDEN', 'A test key has no access to captured mail, which is live.', {
  suggestion: 'Use a live key (svc_live_…). For test emails use GET /v1/emails/wait.',
});

/** Answers as soon as a captured copy for the address is there. */
export async function awaitCaptured(
  deps: CapturedReader & { readonly waiting: WaitingRoom<WantedMail> },
  call: Call<unknown, WaitQuery>,
): Promise<AwaitedCapture | Failure> {
  if (!call.caller.livemode) return ONLY_LIVE;
  const id = await waitForMail(deps.waiting, 'cap', call);
  if (id instanceof Failure) return id;
  const detail = await capturedDetail(deps, { ...call, params: { id } });
  if (detail instanceof Failure) return detail;
  const { emailId, recipient, from, subject, size, capturedAt, text, html } = detail;
  return {
    id,
    emailId,
    recipient,
    from,
    subject,
    size,
    capturedAt,
    text,
    html,
    ...findInMail(subject, text, html),
  };
}
