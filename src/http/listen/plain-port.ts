import { mintId } from '../../platform/db/ids.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { isOwn } from '../request/elsewhere.ts';
import { type App, targetOf } from '../request/mount.ts';
import { reply } from '../request/reply.ts';

/** The options of the plain port beside HTTPS_PORT. */
export interface PlainPortOptions {
  /** The https address of the service, without a trailing slash. */
  readonly publicUrl: string;
  /** The answer to a challenge of the certificate authority; null for an unknown token. */
  readonly answerTo: (token: string) => Promise<string | null>;
  /** True once HTTPS is served. */
  readonly isSecure: () => boolean;
  readonly now: () => number;
}

const CHALLENGE = /^\/\.well-known\/acme-challenge\/([\w-]{1,128})$/;

const NOT_YET = new Failure('SERVICE_UNAVAILABLE', 'The certificate for HTTPS is not available yet.', {
  suggestion: 'Try again in a minute. The operator sees the reason in the log and with `posthorn doctor`.',
  retryAfterSeconds: 60,
});
const HTTPS_ONLY = new Failure('BAD_REQUEST', 'This service answers over HTTPS only.', {
  suggestion:
    'Use its https address. A key that was sent over http may have been read on the way: revoke and replace it.',
});

/**
 * The application of PORT beside HTTPS_PORT: challenges (RFC 8555, 8.3), health, and the way to https. A
 * request that carries a key or a body is refused and not led there, so that its maker notices that it goes
 * out in clear text.
 */
export function plainPort(app: App, { publicUrl, answerTo, isSecure, now }: PlainPortOptions): App {
  const refuse = (failure: Failure): Response =>
    reply(failure, { requestId: mintId('req', now()), baseUrl: publicUrl, rateLimit: null, status: 503 });
  const challenged = async (token: string): Promise<Response> => {
    const answer = await answerTo(token);
    const headers = { 'content-type': 'text/plain', 'cache-control': 'no-store' };
    return answer === null
      ? new Response('No such challenge.\n', { status: 404, headers })
      : new Response(answer, { headers });
  };
  return {
    ...app,
    fetch(request, server) {
      const { path, search } = targetOf(request.url);
      const token = CHALLENGE.exec(path)?.[1];
      if (token !== undefined) return challenged(token);
      if (isOwn({ path })) return app.fetch(request, server);
      if (!isSecure()) return refuse(NOT_YET);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      // A target without a slash (RFC 9112, 3.2) would become a part of the host's name.
      if (!isRead || request.headers.has('authorization') || !path.startsWith('/')) return refuse(HTTPS_ONLY);
      return new Response(null, {
        status: 308,
        headers: { location: `${publicUrl}${path}${search === '' ? '' : `?${search}`}` },
      });
    },
  };
}
