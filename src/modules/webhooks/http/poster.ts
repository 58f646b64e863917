import { isIP } from 'node:net';
import type { Clock } from '../../../time/clock.ts';
import { hostOf } from '../endpoints/target.ts';
import type { AddressGuard } from './address-guard.ts';
import { Connections } from './connections.ts';
import { guardedLookup, type Resolve } from './lookup.ts';
import { type PostError, type PostResult, REASONS } from './post-result.ts';
import { sendRequest } from './request.ts';
import { sign } from './signature.ts';

/** The documented limit of ten seconds, after which an attempt counts as failed. */
const LIMIT_MS = 10_000;

/** One event and the present endpoint that receives it. */
export interface Posting {
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
   * @throws Unavailable when this machine has no socket left, which says nothing about the receiver.
   */
  post(posting: Posting): Promise<PostResult>;
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
  const connections = new Connections({ clock, lookup: guardedLookup(guard, resolve), ca });

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
    // A URL with an address is connected to without a lookup, so this is its only check.
    if (isIP(host) !== 0 && !guard(host)) return answer(0, REASONS.forbidden_address, 'forbidden_address');

    const secure = target.protocol === 'https:';
    const port = Number(target.port) || (secure ? 443 : 80);
    const head = [
      `POST ${target.pathname}${target.search} HTTP/1.1`,
      `host: ${target.host}`,
      'user-agent: svc-webhooks/1.0',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      'accept-encoding: identity',
      `X-Svc-Webhook-Id: ${webhookId}`,
      `X-Svc-Signature: ${sign(secret, Math.floor(clock.now() / 1000), body)}`,
      'Connection: keep-alive',
    ];
    const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
    const to = { webhookId, secure, host, port };
    const { status, reply, error } = await sendRequest(connections, to, request, limitMs);
    return answer(status, status === 0 && error !== null ? REASONS[error] : reply.text(), error);
  }

  return { post, close: () => connections.close() };
}
