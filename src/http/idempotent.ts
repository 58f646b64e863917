import type { Database } from '../db/database.ts';
import { isDuplicate } from '../db/sqlstate.ts';
import { type Keyed, type StoredReply, storedReplyOf } from '../db/stored-replies.ts';
import { Failure } from './failure.ts';
import { replayOf } from './idempotency.ts';
import type { Call, Replay } from './route.ts';

/** A command that is carried out at most once for its Idempotency-Key. */
export interface Once<Data> {
  /**
   * Does what is asked and stores the reply in the same commit; answers the stored reply where the commit met one.
   * A violation of the key's uniqueness may be thrown: another instance was faster.
   */
  run(): Promise<Data | Failure | StoredReply>;
  /** Reads a stored reply; JSON unless stated (it may be sealed). */
  readonly open?: (reply: string) => unknown;
  /** Whether the stored reply is looked for before `run`, which costs much or would be refused by what it did itself. */
  readonly lookFirst?: boolean;
}

/** The call as its reply is stored. */
export const keyedBy = ({ caller, claim, now }: Pick<Call, 'caller' | 'claim' | 'now'>): Keyed => ({
  scope: caller,
  claim,
  now,
});

/**
 * Carries out a command once. A stored reply counts more than a refusal: what was right when it was first asked for may be
 * refused by now (its time has passed, its domain is verified no more). What is taken at the first try pays no look for it.
 * @throws Unavailable, and what `run` throws
 */
export async function idempotently<Data>(
  database: Database,
  keyed: Keyed,
  { run, open = JSON.parse, lookFirst = false }: Once<Data>,
): Promise<Data | Failure | Replay> {
  const { claim, scope, now } = keyed;
  const replay = async (): Promise<Failure | Replay | null> => {
    const stored = claim && (await storedReplyOf(database, { ...claim, scope }, now));
    return stored ? replayOf(claim, stored, () => open(stored.reply)) : null;
  };
  if (lookFirst) {
    const replayed = await replay();
    if (replayed) return replayed;
  }
  try {
    const done = await run();
    if (claim && isStored(done)) return replayOf(claim, done, () => open(done.reply));
    if (done instanceof Failure) return (await replay()) ?? done;
    return done as Data;
  } catch (error) {
    const replayed = isDuplicate(error, 'idempotency_keys_pkey') ? await replay() : null;
    if (replayed) return replayed;
    throw error;
  }
}

const isStored = (done: unknown): done is StoredReply =>
  typeof done === 'object' && done !== null && 'outcome' in done && done.outcome === 'replayed';

/** The key of a request, and the reply to store with the action, as the engine takes them. */
export const claimOnce = <State extends string, Context>(
  { scope, claim }: Keyed,
  status: number,
  reply: (state: State, context: Context) => string,
) => (claim ? { ...claim, scope, status, reply } : undefined);
