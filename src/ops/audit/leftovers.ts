import type { Audit } from '../../engine/audit/actors.ts';
import { mayBeRemoved } from '../../engine/audit/session.ts';
import { isDistributedDatabase } from '../../platform/db/distribution/present.ts';
import { isId, timeOfId } from '../../platform/db/ids.ts';
import { isOutOfLine, readLogState } from '../../sending/events/positions.ts';

const BATCH = 1_000;
/** Age at which an outbox event counts as left over; the outbox relay runs every few seconds. */
const FORGOTTEN_MS = 60_000;
/** Each statement is a separate transaction, so none stays open between two. */
const LEFT_OPEN = `select pid, round(extract(epoch from now() - state_change))::integer as seconds
from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
  and state like 'idle in transaction%' and state_change < now() - interval '10 seconds'`;

/**
 * A receipt is short, while a preview may have millions of characters: what is longer is left where it is.
 */
const REPLIES = `select workspace_id, livemode, key, item, left(reply, 4096) as reply,
  reply like '{%' and length(reply) <= 4096 as plain from idempotency_keys
where (workspace_id, livemode, key, item) > ($1, $2, $3, $4) order by workspace_id, livemode, key, item limit ${BATCH}`;
const EMAILS = 'select i.id from unnest($1::text[]) i(id) join emails e on e.id = i.id';
const MAIL = `select id, to_kind from actor_outbox where id > $1 order by id limit ${BATCH}`;

interface ReplyRow {
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly key: string;
  readonly item: number;
  readonly reply: string;
  readonly plain: boolean;
}

/**
 * Checks that the emails named by stored replies exist: both were written in one commit. A reply may outlive
 * its email by minutes.
 */
export async function auditReplies({ session, findings, removed }: Audit): Promise<void> {
  let last = { workspace_id: '', livemode: false, key: '', item: 0 };
  for (;;) {
    const rows = await session.query<ReplyRow>(REPLIES, [
      last.workspace_id,
      last.livemode,
      last.key,
      last.item,
    ]);
    const named = rows.flatMap((row) => emailIn(row) ?? []);
    const found = await session.query<{ id: string }>(EMAILS, [named]);
    const there = new Set(found.map(({ id }) => id));
    findings.look('replies', named.length);
    for (const id of named)
      if (!there.has(id) && !mayBeRemoved(id, removed))
        findings.wrong('replies', id, 'was the answer to an idempotency key, and does not exist');
    const end = rows.at(-1);
    if (!end || rows.length < BATCH) return;
    last = end;
  }
}

/** The email that a stored reply names. A sealed reply, or one about something else, names none. */
function emailIn({ reply, plain }: ReplyRow): string | null {
  if (!plain) return null;
  const { id } = JSON.parse(reply) as { readonly id?: unknown };
  return typeof id === 'string' && isId('em', id) ? id : null;
}

/** Checks for outbox events that were not delivered within a minute. */
export async function auditMail({ session, findings, now, served }: Audit): Promise<void> {
  let last = '';
  for (;;) {
    const rows = await session.query<{ id: string; to_kind: string }>(MAIL, [last]);
    findings.look('mail', rows.length);
    for (const { id, to_kind } of rows) {
      const age = now - timeOfId(id);
      if (served && age > FORGOTTEN_MS)
        findings.wrong('mail', id, `to a ${to_kind}, for ${Math.round(age / 1_000)} s`);
    }
    const end = rows.at(-1);
    if (!end || rows.length < BATCH) return;
    last = end.id;
  }
}

/** Checks positions in the event log. If new positions were among old ones, readers would miss them. */
export async function auditPositions({ session, findings, served }: Audit): Promise<void> {
  const state = await readLogState(session, await isDistributedDatabase(session));
  findings.look('positions', 1);
  if (!isOutOfLine(state)) return;
  if (state.last < state.next && !served)
    findings.note('The database was restored, or failed over: the next start advances the event log.');
  else
    findings.wrong(
      'positions',
      state.lastEmail ?? 'the log',
      `has position ${state.last} in the event log, and the next one is ${state.next}`,
    );
}

/** Checks for transactions left open. They hold locks, and keep old rows from being removed. */
export async function auditTransactions({ session, findings }: Audit): Promise<void> {
  const rows = await session.query<{ pid: number; seconds: number }>(LEFT_OPEN);
  findings.look('transactions', 1);
  for (const { pid, seconds } of rows)
    findings.wrong('transactions', `backend ${pid}`, `idle in transaction for ${seconds} s`);
}
