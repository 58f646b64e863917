import { and, eq } from 'drizzle-orm';
import type { Scope } from '../../../audience/contacts/queries.ts';
import { idempotently, keyedBy } from '../../../http/request/idempotent.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import type { Purpose } from '../../../platform/crypto/sealed-columns.ts';
import { openOrNull, type Sealer } from '../../../platform/crypto/sealer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { flowWebhookSecrets } from '../../../platform/db/schema/flows.ts';
import { keepReplySql, replyParameters } from '../../../platform/db/stored-replies.ts';
import type { Failure } from '../../../platform/errors/failure.ts';
import { mintSecret } from '../../../sending/webhooks/commands.ts';

/** The services that the secret of webhook steps needs. */
export interface SecretDeps {
  readonly database: Database;
  readonly sealer: Sealer;
}

const purposeOf = ({ workspaceId, livemode }: Scope): Purpose =>
  `flow webhook secret ${workspaceId} ${livemode}`;

const ROTATE = `with rotated as (
  insert into flow_webhook_secrets (workspace_id, livemode, sealed, created_at)
  values ($1, $2::boolean, $3, $4::timestamptz)
  on conflict (workspace_id, livemode) do update set sealed = excluded.sealed, created_at = excluded.created_at
  returning sealed
), kept as (
  ${keepReplySql({ from: 'rotated', reply: '$3', first: 5 })}
)
select sealed from rotated`;

/**
 * The secret that the requests of webhook steps are signed with; null when it was sealed with another key.
 * @throws UnavailableError
 */
export async function secretOf(
  { database, sealer }: SecretDeps,
  scope: Scope,
  now: number,
): Promise<string | null> {
  const { workspaceId, livemode } = scope;
  const read = () =>
    database.read((orm) =>
      orm
        .select({ sealed: flowWebhookSecrets.sealed })
        .from(flowWebhookSecrets)
        .where(
          and(eq(flowWebhookSecrets.workspaceId, workspaceId), eq(flowWebhookSecrets.livemode, livemode)),
        ),
    );
  let [row] = await read();
  if (!row) {
    // The new secret stays hidden until a request asks for it.
    const sealed = sealer.seal(mintSecret(), purposeOf(scope));
    const made = { workspaceId, livemode, sealed, createdAt: new Date(now) };
    await database.read((orm) => orm.insert(flowWebhookSecrets).values(made).onConflictDoNothing());
    [row] = await read();
  }
  return openOrNull(sealer, row?.sealed ?? '', purposeOf(scope));
}

/** Makes a new secret, which only this answer shows; the previous one becomes invalid. */
export const rotateFlowSecret = (
  { database, sealer }: SecretDeps,
  call: Call,
): Promise<{ readonly secret: string } | Failure | Replay> =>
  idempotently(database, keyedBy(call), {
    run: async () => {
      const { caller, now } = call;
      const secret = mintSecret();
      await database.query(ROTATE, [
        caller.workspaceId,
        caller.livemode,
        sealer.seal(secret, purposeOf(caller)),
        new Date(now).toISOString(),
        ...replyParameters(keyedBy(call), 200),
      ]);
      return { secret };
    },
    open: (sealed) => ({ secret: sealer.open(sealed, purposeOf(call.caller)) }),
  });
