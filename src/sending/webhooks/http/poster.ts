import type { Clock } from '../../../platform/time/clock.ts';
import type { AddressGuard } from './address-guard.ts';
import { Connections } from './connections.ts';
import { guardedLookup, type Resolve } from './lookup.ts';
import { type PostError, type PostResult, REASONS } from './post-result.ts';
import { sendRequest } from './request.ts';
import { Routes } from './route.ts';
import { sign } from './signature.ts';

/**
 * The documented limit of ten seconds, after which an attempt counts as failed. `LONGEST_ATTEMPT_MS` and the
 * leases of those that post (deliveries, received mail, flows) are longer.
 */
const LIMIT_MS = 10_000;
/** The end of the head, after the signature. */
const HEAD_END = '\r\nConnection: keep-alive\r\n\r\n';

/** One event and the present endpoint that receives it. */
export interface PostRequest {
  readonly webhookId: string;
  /** A URL that `problemOfUrl` has accepted. */
  readonly url: string;
  readonly secret: string;
  /** The JSON of the event, the same bytes at every attempt. */
  readonly body: string;
}

export interface PosterOptions {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly clock: Clock;
  /** The time limit of one POST, including the resolution of the name, in milliseconds. */
  readonly limitMs?: number;
  /** The trusted certificate authorities in PEM; null for the runtime's own list. */
  readonly ca?: string | null;
}

/** Sends all webhooks of this process. */
export interface Poster {
  /**
   * Sends one signed POST and resolves to its result within the limit, whatever the receiver does.
   * @throws UnavailableError when this machine has no socket left, which says nothing about the receiver.
   */
  post(posting: PostRequest): Promise<PostResult>;
  /** Ends the idle connections. Requests under way go on. */
  close(): void;
}

export function createPoster({
  guard,
  resolve,
  clock,
  limitMs = LIMIT_MS,
  ca = null,
}: PosterOptions): Poster {
  const routes = new Routes(guard);
  const connections = new Connections({ clock, lookup: guardedLookup(guard, resolve), ca });

  async function post({ webhookId, url, secret, body }: PostRequest): Promise<PostResult> {
    const startedAt = clock.monotonic();
    const answer = (httpStatus: number, responseBody: string, error: PostError | null): PostResult => ({
      httpStatus,
      responseBody,
      durationMs: Math.round(clock.monotonic() - startedAt),
      error,
    });

    const route = routes.of(webhookId, url);
    if (route.isForbidden) return answer(0, REASONS.forbidden_address, 'forbidden_address');

    const signature = sign(secret, Math.floor(clock.now() / 1000), body);
    const head = `${route.head}${Buffer.byteLength(body)}${route.middle}${signature}${HEAD_END}`;
    const request = Buffer.from(head + body);
    const { status, reply, error } = await sendRequest(connections, route, request, limitMs);
    return answer(status, status === 0 && error !== null ? REASONS[error] : reply.text(), error);
  }

  return { post, close: () => connections.close() };
}
