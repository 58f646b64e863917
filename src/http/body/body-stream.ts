import type { BodyReservation } from '../../platform/async/body-budget.ts';
import { within } from '../../platform/async/deadline.ts';
import type { Failure } from '../../platform/errors/failure.ts';
import { type BodyRules, INCOMPLETE, NO_ROOM, tooLarge } from './read-body.ts';

/** A body that broke off, arrived too slowly or became too large while it was read. */
export class BrokenBody extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

/**
 * The pieces of a body as they arrive, for endpoints that never hold it whole. The reader's own pace does not
 * count against the client: the time limit is for each wait, and for all of them together. @throws BrokenBody
 */
export async function* bodyStream(
  request: Request,
  { rules, bodyMs, reservation }: BodyStreaming,
): AsyncGenerator<Uint8Array, void> {
  const reader = request.body?.getReader();
  if (!reader) return;
  let left = bodyMs;
  let length = 0;
  try {
    for (;;) {
      const begun = performance.now();
      const piece = await within(left, reader.read()).catch(() => null);
      left -= performance.now() - begun;
      if (piece === null) throw new BrokenBody(INCOMPLETE);
      if (piece.done) return;
      length += piece.value.byteLength;
      if (length > rules.limit) throw new BrokenBody(tooLarge(rules));
      if (!reservation.hold(length)) throw new BrokenBody(NO_ROOM);
      yield piece.value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** The options for reading a body in pieces. */
export interface BodyStreaming {
  readonly rules: BodyRules;
  readonly bodyMs: number;
  readonly reservation: BodyReservation;
}

/** The result of a body's reader, or the refusal of the body itself. */
export async function orBroken<Result>(received: Promise<Result>): Promise<Result | Failure> {
  try {
    return await received;
  } catch (error) {
    if (error instanceof BrokenBody) return error.failure;
    throw error;
  }
}
