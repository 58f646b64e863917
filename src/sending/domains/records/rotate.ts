import type { DomainContext, DomainEvent } from '../../../../machines/domain/context.ts';
import type { DomainState } from '../../../../machines/domain/machine.ts';
import { claimOnce, idempotently, keyedBy } from '../../../http/request/idempotent.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import { mintId } from '../../../platform/db/ids.ts';
import type { StoredReply } from '../../../platform/db/stored-replies.ts';
import { Failure, notFound } from '../../../platform/errors/failure.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { type DomainCommands, refusalOf } from '../commands.ts';
import type { DomainView } from '../model.ts';
import { readDomain } from '../queries.ts';
import { viewOf } from '../views.ts';
import { keysAt, makeKeys, selectorFrom } from './keys.ts';

/** Longest wait for a free slot: less than a request may take. */
const LONGEST_WAIT_MS = 6_000;

// Replacing the pending keys would invalidate records that the owner may be setting at this moment.
const UNDER_WAY = new Failure('CONFLICT', 'A rotation of this domain’s DKIM keys is already under way.', {
  suggestion: 'Set the records of its pending keys, and check them with POST /v1/domains/{id}/verify.',
});

type RotateCall = Call<{ readonly id: string }>;

/** Makes new keys beside the active ones, and returns the domain with the records to set for them. */
export const rotateKeys = (
  commands: DomainCommands,
  call: RotateCall,
): Promise<DomainView | Failure | Replay> =>
  commands.keyMaking.run(
    async () =>
      (await refusalOf(commands, call.caller, call.params.id)) ??
      idempotently(commands.database, keyedBy(call), { run: () => rotate(commands, call), lookFirst: true }),
    AbortSignal.timeout(LONGEST_WAIT_MS),
    () => new UnavailableError('Too many keys are being made at once.'),
  );

async function rotate(
  { database, engine, sealer, setup }: DomainCommands,
  call: RotateCall,
): Promise<DomainView | Failure | StoredReply> {
  const { caller, params, now } = call;
  const { id } = params;
  const row = await readDomain(database, caller, id);
  if (!row) return notFound('domain');
  if (keysAt(row.keySets, 'pending')) return UNDER_WAY;
  const keys = { selector: selectorFrom(mintId('dom', now)), ...(await makeKeys(id, sealer)) };
  const { selector, rsaValue, ed25519Value } = keys;
  const pending = { selector, stage: 'pending', since: now, rsaValue, ed25519Value } as const;
  const keySets = [pending, ...row.keySets];
  const view = (state: DomainState, context: DomainContext): DomainView =>
    viewOf({ ...row, state, context, keySets }, setup);
  const event: DomainEvent = { type: 'rotation.requested', at: now, keys };
  const result = await engine.tell('domain', id, event, {
    scope: { workspaceId: caller.workspaceId, livemode: true },
    claim: claimOnce(keyedBy(call), 200, (state: DomainState, context: DomainContext) =>
      JSON.stringify(view(state, context)),
    ),
  });
  if (result.outcome === 'replayed') return result;
  if (result.outcome === 'changed') return view(result.state, result.context);
  // Another rotation came first since the domain was read, or the domain was removed.
  return result.outcome === 'refused' && result.state !== 'removed' ? UNDER_WAY : notFound('domain');
}
