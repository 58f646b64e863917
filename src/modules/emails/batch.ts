import { replyKey, storedReplies } from '../../engine/stored-replies.ts';
import { envelope, Failure, invalid } from '../../http/failure.ts';
import { replayOf } from '../../http/idempotency.ts';
import type { Log } from '../../http/log.ts';
import { mishapOf } from '../../http/mishap.ts';
import { type Call, type IdempotencyClaim, Replay } from '../../http/route.ts';
import { compileChecker } from '../../http/schema.ts';
import type { EmailReceipt } from './answer-model.ts';
import type { BatchBody, BatchItem } from './batch-model.ts';
import { type EmailCommands, sendEmail } from './commands.ts';
import type { EmailReader } from './queries.ts';
import { SendBody } from './request-model.ts';

/** What sending a batch needs. */
export interface BatchDeps extends EmailCommands, EmailReader {
  readonly baseUrl: string;
  readonly log: Log;
}

type Refused = Extract<BatchItem, { error: unknown }>;
type BatchCall = Call<unknown, unknown, BatchBody>;
type Outcome = EmailReceipt | Failure | Replay;

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

  async function attempt(call: BatchCall, index: number, claim: IdempotencyClaim | null): Promise<Outcome> {
    const at = `/body/emails/${index}`;
    const body = call.body.emails[index];
    const details = check(body, at);
    if (details) return invalid(details);
    const outcome = await sendEmail(deps, { ...call, body: body as SendBody, claim });
    return outcome instanceof Failure ? placed(outcome, at) : outcome;
  }

  /** What an earlier call with the key has done, each reply as it was given then; null when there was none. */
  async function done(
    call: BatchCall,
    claim: IdempotencyClaim,
  ): Promise<Map<number, Outcome> | Failure | null> {
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
    const outcomes = new Map<number, Outcome>([[Number(carrier), replay]]);
    for (const [index, stored] of each.entries())
      if (stored)
        outcomes.set(
          index,
          replayOf(claim, stored, () => JSON.parse(stored.reply)),
        );
    return outcomes;
  }

  /** Has one email carry the key of the call; answers it by its index, with those before it, which were refused. */
  async function carry(call: BatchCall, claim: IdempotencyClaim): Promise<Map<number, Outcome> | Failure> {
    const { body } = call;
    const known = await done(call, claim);
    if (known) return known;
    const outcomes = new Map<number, Outcome>();
    for (const index of body.emails.keys()) {
      const fingerprint = `${claim.fingerprint} ${index}`;
      const outcome = await attempt(call, index, { key: claim.key, fingerprint });
      // Another instance was faster, with the same call or another one: what it has stored tells.
      if (outcome instanceof Failure && outcome.code === 'IDEMPOTENCY_CONFLICT') return carry(call, claim);
      outcomes.set(index, outcome);
      if (!(outcome instanceof Failure)) break;
    }
    return outcomes;
  }

  return async (call: BatchCall): Promise<readonly BatchItem[] | Failure | Replay> => {
    const { claim, body, requestId } = call;
    const known = claim ? await carry(call, claim) : new Map<number, Outcome>();
    if (known instanceof Failure) return known;
    const tried = await Promise.allSettled(
      body.emails.map(
        async (_, index) =>
          known.get(index) ?? (await attempt(call, index, claim && claimOfPlace(claim, index))),
      ),
    );
    const failed = tried.find((one) => one.status === 'rejected');
    if (failed && tried.every((one) => one.status === 'rejected')) throw failed.reason;
    const outcomes = tried.map((one) =>
      one.status === 'fulfilled'
        ? one.value
        : mishapOf(one.reason, deps.log, { requestId, route: BATCH_PATH }),
    );
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

/** The command knows nothing of a batch: the places that it names lie in the email's own body. */
const placed = ({ code, message, extra }: Failure, at: string): Failure =>
  new Failure(code, message, {
    ...extra,
    ...(extra.details && {
      details: extra.details.map((detail) => ({ ...detail, path: detail.path.replace(/^\/body/, at) })),
    }),
  });

function itemOf(outcome: Outcome, index: number, baseUrl: string): BatchItem {
  if (outcome instanceof Failure) return { index, ...(envelope(outcome, baseUrl) as Pick<Refused, 'error'>) };
  return { index, ...(outcome instanceof Replay ? (outcome.body as EmailReceipt) : outcome) };
}
