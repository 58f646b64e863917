import { SealedWithAnotherKey } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import { isDuplicate } from '../../platform/db/sqlstate.ts';
import {
  type KeyedRequest,
  keepReply,
  type StoredReply,
  storedReplyOf,
} from '../../platform/db/stored-replies.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { replayOf } from './idempotency.ts';
import type { Call, IdempotencyClaim, Replay } from './route.ts';

/** A command that is carried out at most once for its Idempotency-Key. */
export interface IdempotentCommand<Data> {
  /**
   * Carries out the command and stores its reply in the same commit. Returns the stored reply when the commit
   * found one, and may throw the violation of the key's uniqueness when another instance was faster.
   */
  run(): Promise<Data | Failure | StoredReply>;
  /** Reads a stored reply, which may be sealed; as JSON by default. */
  readonly open?: (reply: string) => unknown;
  /**
   * Looks for the stored reply before `run`: for commands that are expensive, or that their own first effect
   * would refuse.
   */
  readonly lookFirst?: boolean;
}

/** The key and the scope under which the reply of a call is stored. */
export const keyedBy = ({ caller, claim, now }: Pick<Call, 'caller' | 'claim' | 'now'>): KeyedRequest => ({
  scope: caller,
  claim,
  now,
});

/**
 * Carries out a command once. A stored reply takes precedence over a refusal: a request that was accepted
 * once may be refused when it is repeated, because its time has passed or its domain is no longer verified.
 * The stored reply is only looked up after a refusal, so that a command which succeeds at the first attempt
 * does not pay for the look-up.
 * @throws UnavailableError, and everything that `run` throws
 */
export function idempotently<Data>(
  database: Database,
  keyed: KeyedRequest,
  once: IdempotentCommand<Data>,
): Promise<Data | Failure | Replay> {
  // Without a key no reply is stored, and nothing can be replayed.
  return keyed.claim ? onceFor(database, keyed, once) : (once.run() as Promise<Data | Failure>);
}

/**
 * Answers a request that may be carried out again without harm: it changes nothing, or a repetition changes
 * nothing more. The reply is stored once it is known, so a crash before loses the key.
 */
export function answeredOnce<Data>(
  database: Database,
  call: Pick<Call, 'caller' | 'claim' | 'now'>,
  answer: () => Promise<Data | Failure>,
): Promise<Data | Failure | Replay> {
  const keyed = keyedBy(call);
  return idempotently(database, keyed, {
    lookFirst: true,
    run: async () => {
      const data = await answer();
      if (!(data instanceof Failure)) await keepReply(database, keyed, 200, data);
      return data;
    },
  });
}

/**
 * The reply holds a secret that cannot be shown again, and carrying the request out once more would create a
 * second one.
 */
const REPLY_SEALED = new Failure(
  'IDEMPOTENCY_CONFLICT',
  'This request was already carried out, but its reply was sealed with a secret key that has been replaced since.',
  { suggestion: 'Delete the resource that it created, and create it again with another Idempotency-Key.' },
);

async function onceFor<Data>(
  database: Database,
  keyed: KeyedRequest,
  { run, open = JSON.parse, lookFirst = false }: IdempotentCommand<Data>,
): Promise<Data | Failure | Replay> {
  const { claim, scope, now } = keyed;
  const replay = async (): Promise<Failure | Replay | null> => {
    const stored = claim && (await storedReplyOf(database, { ...claim, scope }, now));
    return stored ? replayed(claim, stored, open) : null;
  };
  if (lookFirst) {
    const known = await replay();
    if (known) return known;
  }
  try {
    const done = await run();
    if (claim && isStored(done)) return replayed(claim, done, open);
    if (done instanceof Failure) return (await replay()) ?? done;
    return done as Data;
  } catch (error) {
    const known = isDuplicate(error, 'idempotency_keys_pkey') ? await replay() : null;
    if (known) return known;
    throw error;
  }
}

function replayed(
  claim: IdempotencyClaim,
  stored: Pick<StoredReply, 'fingerprint' | 'status' | 'reply'>,
  open: (reply: string) => unknown,
): Failure | Replay {
  try {
    return replayOf(claim, stored, () => open(stored.reply));
  } catch (error) {
    if (error instanceof SealedWithAnotherKey) return REPLY_SEALED;
    throw error;
  }
}

const isStored = (done: unknown): done is StoredReply =>
  typeof done === 'object' && done !== null && 'outcome' in done && done.outcome === 'replayed';

/** The key of a request and the reply to store with the action, in the form that the engine takes. */
export const claimOnce = <State extends string, Context>(
  { scope, claim }: KeyedRequest,
  status: number,
  reply: (state: State, context: Context) => string,
) => (claim ? { ...claim, scope, status, reply } : undefined);
