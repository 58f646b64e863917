import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../platform/time/clock.ts';
import { resolveBySystem } from '../../sending/webhooks/http/lookup.ts';
import { createPoster } from '../../sending/webhooks/http/poster.ts';
import { isPosthornError, Posthorn } from '../../web/client/posthorn.ts';
import { type ForwardingDeps, forward, isPassing } from './listening/forwarding.ts';
import { followReceived } from './listening/received.ts';
import { stopRequested } from './serving/shutdown.ts';
import { MISUSE, type Terminal } from './terminal.ts';

/** The words of `posthorn listen`. */
export interface ListenRequest {
  readonly forwardTo?: string;
  readonly url: string;
  readonly key?: string;
  readonly events?: string;
  readonly printSecret?: boolean;
}

/** Between two looks at a service that does not answer, and at a log that has nothing new. */
const EVERY_MS = 1_000;

/**
 * The secret that signs events here: the same for a key at every start, so that it can be in a `.env`. It
 * reveals nothing of the key.
 */
const secretOf = (key: string): string =>
  `whsec_${createHmac('sha256', key).update('posthorn listen').digest('base64url')}`;

/**
 * `posthorn listen` follows the event log and received mail, and posts each event to an address of this
 * machine, in the form and with the signature of a webhook. Nothing has to reach this machine from outside.
 * Ends by a signal with 0.
 */
export async function listen(request: ListenRequest, terminal: Terminal): Promise<number> {
  const { key, url, printSecret } = request;
  if (!key) return misuse(terminal, 'An API key with emails:read is needed: --key, or POSTHORN_API_KEY.');
  if (printSecret) {
    terminal.out(`${secretOf(key)}\n`);
    return 0;
  }
  const to = targetOf(request.forwardTo);
  if (to === null)
    return misuse(terminal, '--forward-to must be an address such as http://localhost:4000/hooks.');
  if (!/^https?:\/\/[^/]/.test(url))
    return misuse(terminal, '--url must be an address such as https://mail.example.com.');
  const poster = createPoster({ guard: () => true, resolve: resolveBySystem, clock: systemClock });
  const ending = new AbortController();
  void stopRequested().then(() => ending.abort());
  try {
    const posthorn = new Posthorn({ apiKey: key, baseUrl: url, maxRetries: 0 });
    const forwarding = { poster, to, secret: secretOf(key), terminal, signal: ending.signal };
    const following = [follow(posthorn, request, forwarding)];
    if (request.events === undefined) following.push(followReceived(posthorn, forwarding));
    await Promise.all(following);
    return 0;
  } catch (error) {
    if (ending.signal.aborted) return 0;
    // The other listener ends with the one that failed.
    ending.abort();
    if (!isPosthornError(error)) throw error;
    terminal.error(`${error.message}\n`);
    return 1;
  } finally {
    poster.close();
  }
}

function misuse(terminal: Terminal, sentence: string): number {
  terminal.error(`${sentence}\n`);
  return MISUSE;
}

/** The address to post to; null when it is none. Without a scheme it is http. */
function targetOf(text = ''): string | null {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.hash === '' ? url.href : null;
}

/**
 * The log until the signal, over every time that the service is away. @throws PosthornError where asking
 * again is no use
 */
async function follow(
  posthorn: Posthorn,
  { events: types }: ListenRequest,
  forwarding: ForwardingDeps,
): Promise<never> {
  const { signal, terminal, to, secret } = forwarding;
  let after: string | undefined;
  let isAway = false;
  for (;;) {
    try {
      for await (const page of posthorn.events.follow({
        after,
        from: 'end',
        types,
        everyMs: EVERY_MS,
        signal,
      })) {
        if (after === undefined)
          terminal.error(`Listening: each event goes to ${to}, signed with ${secret}\n`);
        else if (isAway) terminal.error('The service answers again.\n');
        isAway = false;
        for (const event of page.data) {
          signal.throwIfAborted();
          await forward(event, event.recipient, forwarding);
        }
        after = page.nextCursor ?? undefined;
      }
    } catch (error) {
      if (signal.aborted || !isPosthornError(error)) throw error;
      const isLost = error.code === 'VALIDATION_ERROR' && after !== undefined;
      if (isLost) after = undefined;
      else if (!isPassing(error)) throw error;
      if (!isAway) terminal.error(`${error.message} Trying again until it answers.\n`);
      isAway = true;
      await pause(EVERY_MS, undefined, { signal });
    }
  }
}
