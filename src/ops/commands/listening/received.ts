import { setTimeout as pause } from 'node:timers/promises';
import { isPosthornError, type Posthorn } from '../../../web/client/posthorn.ts';
import { type ForwardingDeps, forward, isPassing } from './forwarding.ts';

/** Between two looks at the list. */
const EVERY_MS = 1_000;
/** The newest messages that each look asks for: one whose commit took long appears behind newer ones. */
const WINDOW = 100;
/** Messages of one look, and those that are remembered. */
const MOST = 2_000;

/**
 * Posts each message that is received from now on, as the webhook of a route gets it. Ends by the signal
 * alone. @throws PosthornError
 */
export async function followReceived(posthorn: Posthorn, forwarding: ForwardingDeps): Promise<never> {
  const { signal } = forwarding;
  const seen = new Set<string>();
  for (let isFirst = true; ; ) {
    try {
      const fresh = await unseen(posthorn, seen, isFirst, signal);
      isFirst = false;
      for (const id of fresh) {
        signal.throwIfAborted();
        await post(posthorn, id, forwarding);
      }
    } catch (error) {
      // The listener of the event log says so.
      if (signal.aborted || !isPosthornError(error) || !isPassing(error)) throw error;
    }
    await pause(EVERY_MS, undefined, { signal });
  }
}

/** The messages that were not seen before, the oldest first, and none at the first look; remembers them. */
async function unseen(
  posthorn: Posthorn,
  seen: Set<string>,
  isFirst: boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const fresh: string[] = [];
  let looked = 0;
  for await (const { id } of posthorn.received.list({ limit: WINDOW }, { signal })) {
    if (!seen.has(id)) fresh.push(id);
    looked += 1;
    if (looked >= MOST || (looked >= WINDOW && (isFirst || seen.has(id)))) break;
  }
  fresh.reverse();
  for (const id of fresh) seen.add(id);
  for (const id of seen) if (seen.size > MOST) seen.delete(id);
  return isFirst ? [] : fresh;
}

/** One that is deleted since is left out. */
async function post(posthorn: Posthorn, id: string, forwarding: ForwardingDeps): Promise<void> {
  const { signal } = forwarding;
  const found = await posthorn.received.get(id, { signal }).catch((error: unknown) => {
    if (isPosthornError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  });
  if (!found) return;
  const {
    attempts: _attempts,
    nextAttemptAt: _next,
    stopReason: _stop,
    answers: _answers,
    ...received
  } = found;
  const event = {
    id: `evt_${id.slice('rcv_'.length)}`,
    type: 'received',
    received,
    livemode: received.livemode,
    occurredAt: received.createdAt,
  };
  await forward(event, received.envelope.to, forwarding);
}
