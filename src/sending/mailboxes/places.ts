import { untilDone } from '../../engine/duties/batches.ts';
import type { Database } from '../../platform/db/database.ts';
import { DAY_MS, isoOf } from '../../platform/time/clock.ts';
import type { MailboxPlace } from '../received/api.ts';

/**
 * The holder of a mailbox has lost it: another one reads it, its settings have changed, or its workspace is
 * archived.
 */
export class MailboxLost extends Error {
  override readonly name = 'MailboxLost';
}

/** $1 the mailbox, $2 its holder. */
const HELD = 'id = $1 and holder = $2';

/** Only what comes from now on is read of a new mailbox. */
const BEGIN = `update mailboxes set uid_validity = $3::bigint, last_uid = $4::bigint, begun_at = $5::timestamptz, since = null where ${HELD} and uid_validity is null returning id`;

/**
 * Messages from before the mailbox was begun are old ones: of younger ones each that was read is known by its
 * fingerprint.
 */
const AGAIN = `update mailboxes set uid_validity = $3::bigint, last_uid = 0, since = greatest(begun_at, $4::timestamptz) where ${HELD} and uid_validity <> $3::bigint
returning (extract(epoch from since) * 1000)::float8 as since`;

const KNOWN = 'select 1 as one from mailbox_messages where mailbox_id = $1 and digest = $2';

/** Messages of an archived workspace stay where they are: it can be taken back. */
const IS_PRESENT = `exists (select from workspaces w where w.id = m.workspace_id and w.archived_at is null and w.erase_at is null)`;

/**
 * $3 the UID, $4 the validity, $5 the messages that were skipped, $6 those that were taken without being
 * stored, $7 a fingerprint.
 */
const PASS = `with passed as (
  update mailboxes m set last_uid = greatest(last_uid, $3::bigint), skipped = skipped + $5::integer, taken = taken + $6::integer
  where ${HELD} and uid_validity = $4::bigint and last_uid < $3::bigint and ${IS_PRESENT} returning id
), noted as (
  insert into mailbox_messages (mailbox_id, digest, read_at) select id, $7, now() from passed where $7::text is not null
  on conflict (mailbox_id, digest) do nothing
)
select id from passed`;

/** Days for which it is known which messages were read. */
const KNOWN_DAYS = 60;
/** Older messages are old ones after a change of UIDs. */
const LOOKED_BACK_DAYS = 30;

type Place = Pick<MailboxPlace, 'id' | 'holder'>;

/** Begins to read a mailbox from the next message on. @throws MailboxLost, UnavailableError */
export async function beginAt(
  database: Database,
  { id, holder }: Place,
  uidValidity: number,
  { lastUid, now }: { readonly lastUid: number; readonly now: number },
): Promise<void> {
  const rows = await database.query(BEGIN, [id, holder, uidValidity, lastUid, isoOf(now)]);
  if (rows.length === 0) throw new MailboxLost();
}

/**
 * Begins again after a change of the UIDs, and returns the moment before which messages are old ones. @throws
 * MailboxLost, UnavailableError
 */
export async function beginAgain(
  database: Database,
  { id, holder }: Place,
  uidValidity: number,
  now: number,
): Promise<number> {
  const floor = isoOf(now - LOOKED_BACK_DAYS * DAY_MS);
  const [row] = await database.query<{ since: number }>(AGAIN, [id, holder, uidValidity, floor]);
  if (!row) throw new MailboxLost();
  return row.since;
}

/** True of a message that was read of the mailbox before. @throws UnavailableError */
export const isKnown = async (database: Database, id: string, digest: string): Promise<boolean> =>
  (await database.query(KNOWN, [id, digest])).length > 0;

/** Its effect on the counts, and its fingerprint. */
interface MessageNote {
  readonly skipped?: 1;
  readonly taken?: 1;
  readonly digest?: string;
}

/** Passes a message that is not stored. @throws MailboxLost, UnavailableError */
export async function pass(
  database: Database,
  place: Omit<MailboxPlace, 'digest'>,
  message: MessageNote,
): Promise<void> {
  if (!(await isPassed(database, place, message))) throw new MailboxLost();
}

/**
 * Passes a message unless the commit of its insert has done so, and is false then. @throws UnavailableError
 */
export const isPassed = async (
  database: Database,
  { id, holder, uidValidity, uid }: Omit<MailboxPlace, 'digest'>,
  { skipped, taken, digest }: MessageNote,
): Promise<boolean> =>
  (await database.query(PASS, [id, holder, uid, uidValidity, skipped ?? 0, taken ?? 0, digest ?? null]))
    .length > 0;

/** Messages that are forgotten by one statement. */
const BATCH = 1_000;
const PRUNE = `delete from mailbox_messages where ctid = any(array(
  select ctid from mailbox_messages where read_at < $1::timestamptz limit ${BATCH}
)) returning 1 as one`;

/** Forgets which messages were read long ago. @throws UnavailableError */
export async function forgetOldMessages(database: Database, now: number, stop?: AbortSignal): Promise<void> {
  const before = isoOf(now - KNOWN_DAYS * DAY_MS);
  await untilDone(database, PRUNE, [before], BATCH, stop);
}
