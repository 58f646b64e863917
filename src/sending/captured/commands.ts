import { and, eq } from 'drizzle-orm';
import { boundsOf } from '../../engine/store/statements/statement-parts.ts';
import type { Call } from '../../http/request/route.ts';
import type { CapturedMessage } from '../../mail/transport/capture.ts';
import { Batcher } from '../../platform/async/batcher.ts';
import type { Database } from '../../platform/db/database.ts';
import { mintId } from '../../platform/db/ids.ts';
import { captured } from '../../platform/db/schema/mail.ts';
import { pack } from '../../platform/db/wire/packed-octets.ts';
import { type Failure, notFound } from '../../platform/errors/failure.ts';
import type { Clock } from '../../platform/time/clock.ts';

/** $2 and $3 are the lowest and the highest of the emails, which leave out the partitions of other days. */
const OWNERS = 'select id, workspace_id from emails where id = any($1::text[]) and id >= $2 and id <= $3';

/**
 * Stores a copy once, however often it is sent: a repeated attempt keeps the copy of the first one. It is
 * packed like the contents of emails, and `size` is its length before: a fifth of the octets reach the
 * server, whose own compression (pglz) took a third of the statement.
 */
const KEEP = `insert into captured (id, workspace_id, email_id, recipient, return_path, raw, size)
select c.id, c.workspace_id, c.email_id, c.recipient, c.return_path, decode(c.raw, 'base64'), c.size
from json_to_recordset($1::text::json)
  as c(id text, workspace_id text, email_id text, recipient text, return_path text, raw text, size integer)
order by c.email_id, c.recipient
on conflict do nothing returning workspace_id`;

interface PendingCopy {
  readonly row: { readonly email_id: string } & Readonly<Record<string, string | number>>;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Stores captured mail, many messages in one statement. Resolves once they are durable. @throws
 * UnavailableError
 */
export function captureStore(
  database: Database,
  clock: Clock,
  /** Called with the workspaces of the stored copies. */
  came: (workspaceId: string) => void,
): (captured: CapturedMessage) => Promise<void> {
  const batcher = new Batcher<PendingCopy>('captured', async (batch) => {
    try {
      const emailIds = [...new Set(batch.map(({ row }) => row.email_id))];
      const found = await database.query<{ id: string; workspace_id: string }>(OWNERS, [
        emailIds,
        ...boundsOf(emailIds),
      ]);
      const owners = new Map(found.map(({ id, workspace_id }) => [id, workspace_id]));
      // Emails that retention has deleted meanwhile get no copy.
      const rows = batch.flatMap(({ row }) => {
        const workspace_id = owners.get(row.email_id);
        return workspace_id === undefined ? [] : [{ ...row, workspace_id }];
      });
      const stored = await database.query<{ workspace_id: string }>(KEEP, [JSON.stringify(rows)]);
      for (const { settle } of batch) settle();
      for (const workspaceId of new Set(stored.map((row) => row.workspace_id))) came(workspaceId);
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  });
  return async ({ emailId, returnPath, recipients, raw }) => {
    const packed = pack(raw as Buffer<ArrayBuffer>);
    const content = (packed instanceof Promise ? await packed : packed).toString('base64');
    const keepFor = (recipient: string): Promise<void> =>
      new Promise((settle, fail) => {
        const id = mintId('cap', clock.now());
        const row = {
          id,
          email_id: emailId,
          recipient,
          return_path: returnPath,
          raw: content,
          size: raw.length,
        };
        batcher.push({ row, settle, fail }, content.length);
      });
    await Promise.all(recipients.map(keepFor));
  };
}

/** Deletes one captured message. */
export async function discardCaptured(
  { database }: { readonly database: Database },
  { caller, params }: Call<{ readonly id: string }>,
): Promise<null | Failure> {
  // Captured mail is live mail.
  if (!caller.livemode) return notFound('captured message');
  const rows = await database.read((orm) =>
    orm
      .delete(captured)
      .where(and(eq(captured.id, params.id), eq(captured.workspaceId, caller.workspaceId)))
      .returning({ id: captured.id }),
  );
  return rows.length > 0 ? null : notFound('captured message');
}

/** Deletes every captured message of the workspace. */
export async function discardAllCaptured(
  { database }: { readonly database: Database },
  { caller }: Call,
): Promise<null> {
  if (caller.livemode)
    await database.read((orm) => orm.delete(captured).where(eq(captured.workspaceId, caller.workspaceId)));
  return null;
}
