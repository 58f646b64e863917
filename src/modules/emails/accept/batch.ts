import { replyKey, storedReplies } from '../../../db/stored-replies.ts';
import { envelope, Failure, invalid } from '../../../http/failure.ts';
import { replayOf } from '../../../http/idempotency.ts';
import type { Log } from '../../../http/log.ts';
import { type Call, type IdempotencyClaim, Replay } from '../../../http/route.ts';
import { compileChecker } from '../../../http/schema.ts';
import { unexpectedError } from '../../../http/unexpected-error.ts';
import {
  type Acceptance,
  type AcceptanceDeps,
  type AcceptRequest,
  acceptEmail,
  acceptMany,
} from '../accept.ts';
import type { EmailReader } from '../queries.ts';
import type { EmailReceipt } from '../read/answer-model.ts';
import type { BatchBody, BatchItem } from './batch-model.ts';
import { SendBody } from './request-model.ts';

/** What sending a batch needs. */
export interface BatchDeps extends AcceptanceDeps, EmailReader {
  readonly baseUrl: string;
  readonly log: Log;
}

type Refused = Extract<BatchItem, { error: unknown }>;
type BatchCall = Call<unknown, unknown, BatchBody>;

/** Where a batch is sent to. */
export const BATCH_PATH = '/v1/emails/batch';

/**
 * Sends several emails; each is accepted or refused by itself, by the rules and the command of a single one. They are handed to the
 * engine at once, which commits them together as far as its batches reach.
 *
 * One Idempotency-Key stands for the call, and still every email is written in the commit that stores its reply: the first one
 * that is accepted carries the key itself, and with it the number of its place; only when that is durable the others begin,
 * each under a key of its own that is made of the call's. Whatever dies in between, the same call again finds what was done
 * and does the rest.
 */
export function batchSender(deps: BatchDeps) {
  const check = compileChecker(SendBody);

  /** One email as the acceptance takes it, or the 422 of a body that has not the shape of one. */
  function requestOf(
    { caller, body, now }: BatchCall,
    index: number,
    claim: IdempotencyClaim | null,
  ): AcceptRequest | Failure {
    const at = `/body/emails/${index}`;
    const email = body.emails[index];
    const details = check(email, at);
    return details ? invalid(details) : { sender: caller, body: email as SendBody, claim, now, at };
  }

  /** What an earlier call with the key has done, each reply as it was given then; null when there was none. */
  async function done(
    call: BatchCall,
    claim: IdempotencyClaim,
  ): Promise<Map<number, Acceptance> | Failure | null> {
    const { caller: scope, now, body } = call;
    const places = [...body.emails.keys()].map((index) => ({ scope, ...claimOfPlace(claim, index) }));
    const asked = [{ scope, key: claim.key }, ...places];
    const [whole, ...each] = await storedReplies(deps.database, asked, now).then((stored) =>
      asked.map((one) => stored.get(replyKey(one))),
    );
    if (!whole) return null;
    const [fingerprint = '', carrier] = whole.fingerprint.split(' ');
    const replay = replayOf(claim, { ...whole, fingerprint }, () => JSON.parse(whole.reply));
    if (replay instanceof Failure) return replay;
    const outcomes = new Map<number, Acceptance>([[Number(carrier), replay]]);
    for (const [index, stored] of each.entries())
      if (stored)
        outcomes.set(
          index,
          replayOf(claim, stored, () => JSON.parse(stored.reply)),
        );
    return outcomes;
  }

  /** Has one email carry the key of the call; answers it by its index, with those before it, which were refused. */
  async function carry(call: BatchCall, claim: IdempotencyClaim): Promise<Map<number, Acceptance> | Failure> {
    const { body } = call;
    const known = await done(call, claim);
    if (known) return known;
    const outcomes = new Map<number, Acceptance>();
    for (const index of body.emails.keys()) {
      const fingerprint = `${claim.fingerprint} ${index}`;
      const asked = requestOf(call, index, { key: claim.key, fingerprint });
      const outcome = asked instanceof Failure ? asked : await acceptEmail(deps, asked);
      // Another instance was faster, with the same call or another one: what it has stored tells.
      if (outcome instanceof Failure && outcome.code === 'IDEMPOTENCY_CONFLICT') return carry(call, claim);
      outcomes.set(index, outcome);
      if (!(outcome instanceof Failure)) break;
    }
    return outcomes;
  }

  return async (call: BatchCall): Promise<readonly BatchItem[] | Failure | Replay> => {
    const { claim, body, requestId } = call;
    const known = claim ? await carry(call, claim) : new Map<number, Acceptance>();
    if (known instanceof Failure) return known;
    const asked = body.emails.map(
      (_, index) => known.get(index) ?? requestOf(call, index, claim && claimOfPlace(claim, index)),
    );
    const accepted = await acceptMany(deps, asked.filter(isRequest));
    if (accepted.length === asked.length && accepted.every(isRejected)) throw accepted[0]?.reason;
    const outcomes = asked.map((one) => {
      if (!isRequest(one)) return one;
      const outcome = accepted.shift() as PromiseSettledResult<Acceptance>;
      return isRejected(outcome)
        ? unexpectedError(outcome.reason, deps.log, { requestId, route: BATCH_PATH })
        : outcome.value;
    });
    const items = outcomes.map((outcome, index) => itemOf(outcome, index, deps.baseUrl));
    const isNew = outcomes.some((one) => !(one instanceof Failure || one instanceof Replay));
    return outcomes.some((one) => one instanceof Replay) && !isNew ? new Replay(202, items) : items;
  };
}

/** The key of one email of a call. It holds a space, which no client's key does. */
const claimOfPlace = ({ key, fingerprint }: IdempotencyClaim, index: number): IdempotencyClaim => ({
  key: `${key} ${index}`,
  fingerprint,
});

const isRequest = (one: AcceptRequest | Acceptance): one is AcceptRequest => 'sender' in one;

const isRejected = (one: PromiseSettledResult<unknown>): one is PromiseRejectedResult =>
  one.status === 'rejected';

function itemOf(outcome: Acceptance, index: number, baseUrl: string): BatchItem {
  if (outcome instanceof Failure) return { index, ...(envelope(outcome, baseUrl) as Pick<Refused, 'error'>) };
  return { index, ...(outcome instanceof Replay ? (outcome.body as EmailReceipt) : outcome) };
}
