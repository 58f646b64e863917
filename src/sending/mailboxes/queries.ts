import { and, desc, eq } from 'drizzle-orm';
import type { Principal } from '../../http/auth/principal.ts';
import { listById, withinRange } from '../../http/lists/list.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Purpose } from '../../platform/crypto/sealed-columns.ts';
import { openOrNull, type Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import { mailboxes } from '../../platform/db/schema/mailboxes.ts';
import { type Failure, notFound } from '../../platform/errors/failure.ts';
import type { MailboxQuery, MailboxView } from './model.ts';
import { reasonText } from './reasons.ts';

/** The services that reading the settings of mailboxes calls. */
export interface MailboxLister {
  readonly database: Database;
}

export type MailboxRow = typeof mailboxes.$inferSelect;

const own = ({ workspaceId, livemode }: Pick<Principal, 'workspaceId' | 'livemode'>) => [
  eq(mailboxes.workspaceId, workspaceId),
  eq(mailboxes.livemode, livemode),
];

/** A mailbox as clients see it. */
export function mailboxView(row: MailboxRow): MailboxView {
  const { id, livemode, host, port, security, username, folder, taken, skipped } = row;
  const isFailing = !row.isPaused && row.state === 'failing';
  return {
    id,
    livemode,
    host,
    port,
    security,
    username,
    folder,
    status: row.isPaused ? 'paused' : row.state,
    reason: isFailing ? reasonText(row.problem ?? 'closed') : null,
    since: row.stateAt.toISOString(),
    nextAttemptAt: isFailing ? row.nextAt.toISOString() : null,
    taken,
    skipped,
    lastTakenAt: row.lastTakenAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Reads a mailbox of the caller's environment; null when there is none. @throws UnavailableError */
export async function findMailbox(
  { database }: MailboxLister,
  caller: Pick<Principal, 'workspaceId' | 'livemode'>,
  id: string,
): Promise<MailboxRow | null> {
  const [row] = await database.read((orm) =>
    orm
      .select()
      .from(mailboxes)
      .where(and(eq(mailboxes.id, id), ...own(caller))),
  );
  return row ?? null;
}

/** Answers one mailbox. */
export async function mailboxDetail(
  lister: MailboxLister,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<MailboxView | Failure> {
  const row = await findMailbox(lister, caller, params.id);
  return row ? mailboxView(row) : notFound('mailbox');
}

/** Lists the mailboxes of the caller's environment, newest first. */
export const listMailboxes = (
  { database }: MailboxLister,
  call: Call<unknown, MailboxQuery>,
): Promise<Page<MailboxView> | Failure> =>
  listById(call, {
    list: 'mailboxes',
    prefix: 'mbx',
    rows: (range, limit) =>
      database.read((orm) =>
        orm
          .select()
          .from(mailboxes)
          .where(and(...own(call.caller), ...withinRange(mailboxes.id, range)))
          .orderBy(desc(mailboxes.id))
          .limit(limit),
      ),
    item: mailboxView,
  });

const purposeOf = (id: string): Purpose => `mailbox password ${id}`;

/** Seals a password for one mailbox, so that it does not open in the row of another. */
export const sealPassword = (sealer: Sealer, id: string, password: string): string =>
  sealer.seal(password, purposeOf(id));

/** Opens a password; null when it was sealed with another key. */
export const openPassword = (sealer: Sealer, id: string, sealed: string): string | null =>
  openOrNull(sealer, sealed, purposeOf(id));
