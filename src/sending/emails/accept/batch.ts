import type { Log } from '../../../http/log.ts';
import { replayOf } from '../../../http/request/idempotency.ts';
import { itemError } from '../../../http/request/item-error.ts';
import { type Call, type IdempotencyClaim, Replay } from '../../../http/request/route.ts';
import { compileChecker } from '../../../http/request/schema.ts';
import { unexpectedError } from '../../../http/unexpected-error.ts';
import { replyKey, storedReplies, WHOLE_CALL } from '../../../platform/db/stored-replies.ts';
import { Failure, invalid } from '../../../platform/errors/failure.ts';
import { type Acceptance, type AcceptanceDeps, type AcceptRequest, acceptEmail } from '../accept.ts';
import { onNamedClock } from '../clocked/clock-of-email.ts';
import type { EmailReader } from '../queries.ts';
import type { EmailReceipt } from '../read/answer-model.ts';
import { refusalOfHeader, withNamedScript } from '../simulator/named-script.ts';
import type { BatchBody, BatchItem } from './batch-model.ts';
import { SendBody } from './request-model.ts';

/** The services that sending a batch calls. */
export interface BatchDeps extends AcceptanceDeps, EmailReader {
  readonly baseUrl: string;
  readonly log: Log;
}

type BatchCall = Call<unknown, unknown, BatchBody>;
/** The outcomes that are known, by the index of their email. */
type Outcomes = Map<number, Acceptance>;

/** The path of the batch endpoint. */
export const BATCH_PATH = '/v1/emails/batch';

/**
 * Sends several emails. Each is accepted or refused by itself, by the rules of `POST /v1/emails`; the engine
 * gets them together and commits them in as few statements as its batches allow.
 *
 * One Idempotency-Key covers the whole call, and yet every email is written in the commit that stores its own
 * reply. So the first email that is accepted, the carrier, takes the key of the call, and its reply says
 * which email it is. The others begin when that is durable, each under the same key with its index as the
 * item. Whatever is lost in between, the same call again finds what was done and does the rest.
 */
export function batchSender(deps: BatchDeps) {
  const check = compileChecker(SendBody);

  /** One email in the form that acceptance takes, or the 422 of a body that does not match the schema. */
  function requestOf(
    { caller, claim, body, now, headers, unheard, isGivenUp }: BatchCall,
    index: number,
    item: number,
  ): AcceptRequest | Failure {
    const at = `/body/emails/${index}`;
    const email = body.emails[index];
    const details = check(email, at);
    if (details) return invalid(details);
    const joined = withNamedScript(onNamedClock(email as SendBody, headers), headers);
    const heard = { unheard, isGivenUp };
    return { sender: caller, body: joined, claim: claim && { ...claim, item }, index, now, at, ...heard };
  }

  /**
   * The outcomes that earlier calls with the key have stored, or the conflict with another call; null when
   * there are none.
   */
  async function storedOutcomes(
    { caller: scope, now, body }: BatchCall,
    claim: IdempotencyClaim,
  ): Promise<Outcomes | Failure | null> {
    const keys = [WHOLE_CALL, ...body.emails.keys()].map((item) => ({ scope, key: claim.key, item }));
    const stored = await storedReplies(deps.database, keys, now);
    const [whole, ...others] = keys.map((key) => {
      const reply = stored.get(replyKey(key));
      return reply && replayOf(claim, reply, () => JSON.parse(reply.reply));
    });
    if (!whole || whole instanceof Failure) return whole ?? null;
    const outcomes: Outcomes = new Map([[(whole.body as BatchItem).index, whole]]);
    for (const [index, replay] of others.entries()) if (replay) outcomes.set(index, replay);
    return outcomes;
  }

  /**
   * Makes the key of the call durable with its carrier. Answers all outcomes known by then, or the conflict
   * with another call.
   */
  async function claimCall(call: BatchCall, claim: IdempotencyClaim): Promise<Outcomes | Failure> {
    const known = await storedOutcomes(call, claim);
    if (known) return known;
    const outcomes: Outcomes = new Map();
    for (const index of call.body.emails.keys()) {
      const request = requestOf(call, index, WHOLE_CALL);
      const outcome = request instanceof Failure ? request : await acceptEmail(deps, request);
      if (outcome instanceof Failure && outcome.code === 'IDEMPOTENCY_CONFLICT') return outcome;
      // Another instance took the key for the same call meanwhile, perhaps with another email as its carrier.
      if (outcome instanceof Replay) return claimCall(call, claim);
      outcomes.set(index, outcome);
      if (!(outcome instanceof Failure)) break;
    }
    return outcomes;
  }

  return async (call: BatchCall): Promise<readonly BatchItem[] | Failure | Replay> => {
    const { claim, body, requestId, caller, headers } = call;
    const refused = refusalOfHeader(caller, headers, onNamedClock({}, headers));
    if (refused) return refused;
    const known = claim ? await claimCall(call, claim) : new Map<number, Acceptance>();
    if (known instanceof Failure) return known;
    const asked = body.emails.map((_, index) => known.get(index) ?? requestOf(call, index, index));
    // They reach the engine together, which commits them in as few statements as its batches allow.
    const accepted = await Promise.allSettled(asked.filter(isRequest).map((one) => acceptEmail(deps, one)));
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

const isRequest = (one: AcceptRequest | Acceptance): one is AcceptRequest => 'sender' in one;

const isRejected = (one: PromiseSettledResult<unknown>): one is PromiseRejectedResult =>
  one.status === 'rejected';

function itemOf(outcome: Acceptance, index: number, baseUrl: string): BatchItem {
  if (outcome instanceof Failure) return { index, error: itemError(outcome, baseUrl) };
  return { index, ...(outcome instanceof Replay ? (outcome.body as EmailReceipt) : outcome) };
}
