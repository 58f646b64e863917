import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { Clock } from '../../../time/clock.ts';
import { hostOf } from '../endpoints/target.ts';
import type { AddressGuard } from './address-guard.ts';
import { type PostError, type PostResult, REASONS } from './post-result.ts';
import { sendRequest } from './request.ts';
import type { Resolve } from './resolve.ts';
import { sign } from './signature.ts';
import { type EndpointRequest, guardedLookup, openSockets } from './sockets.ts';

/** The interface's ten seconds; what is slower counts as a failure. */
const LIMIT_MS = 10_000;
const HEADER_MAX_BYTES = 16_384;

/** One event for one endpoint, as that is at the moment of sending. */
export interface Posting {
  readonly webhookId: string;
  /** Already found good by `problemOfUrl`. */
  readonly url: string;
  readonly secret: string;
  /** The JSON of the event; the same bytes on every attempt. */
  readonly body: string;
}

/** What posting depends on. */
export interface PosterOptions {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly clock: Clock;
  /** The whole time one POST may take, the name's resolution included, in milliseconds. */
  readonly limitMs?: number;
  /** The certificate authorities to trust, in PEM; the runtime's own where there are none. */
  readonly ca?: string | null;
}

/** The one way webhooks leave this process. */
export interface Poster {
  /**
   * Sends one signed POST and answers what came of it, within the limit whatever the receiver does.
   * @throws Unavailable when this machine has no socket left: that says nothing about the receiver.
   */
  post(posting: Posting): Promise<PostResult>;
  /** Ends the idle connections; what is under way goes on. */
  close(): void;
}

/** Builds a poster with connections of its own. */
export function createPoster({
  guard,
  resolve,
  clock,
  limitMs = LIMIT_MS,
  ca = null,
}: PosterOptions): Poster {
  const sockets = openSockets(clock);
  const lookup = guardedLookup(guard, resolve);
  // Said aloud, since NODE_TLS_REJECT_UNAUTHORIZED would otherwise decide.
  const trust = { rejectUnauthorized: true, ...(ca !== null && { ca }) };

  async function post({ webhookId, url, secret, body }: Posting): Promise<PostResult> {
    const startedAt = clock.monotonic();
    const answer = (httpStatus: number, responseBody: string, error: PostError | null): PostResult => ({
      httpStatus,
      responseBody,
      durationMs: Math.round(clock.monotonic() - startedAt),
      error,
    });

    const target = new URL(url);
    const host = hostOf(target);
    // An address is connected to without a lookup, so this is its only check.
    if (isIP(host) !== 0 && !guard(host)) return answer(0, REASONS.forbidden_address, 'forbidden_address');

    const secure = target.protocol === 'https:';
    const bytes = Buffer.from(body);
    const options: EndpointRequest = {
      agent: secure ? sockets.https : sockets.http,
      webhookId,
      lookup,
      host,
      port: target.port,
      path: target.pathname + target.search,
      method: 'POST',
      maxHeaderSize: HEADER_MAX_BYTES,
      headers: {
        host: target.host,
        'user-agent': 'svc-webhooks/1.0',
        'content-type': 'application/json',
        'content-length': bytes.length,
        'accept-encoding': 'identity',
        'X-Svc-Webhook-Id': webhookId,
        'X-Svc-Signature': sign(secret, Math.floor(clock.now() / 1000), bytes),
      },
    };
    if (secure) Object.assign(options, trust);
    const request = secure ? https.request : http.request;
    const open = (fresh: boolean): http.ClientRequest =>
      request(fresh ? { ...options, agent: false } : options);

    const { status, reply, error } = await sendRequest(open, bytes, limitMs);
    return answer(status, status === 0 && error !== null ? REASONS[error] : reply.text(), error);
  }

  return { post, close: () => sockets.close() };
}
