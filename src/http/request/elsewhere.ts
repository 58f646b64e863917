import { mintId } from '../../platform/db/ids.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { App } from './mount.ts';
import type { HttpDeps } from './pipeline.ts';
import { reply } from './reply.ts';

/** The paths that a process without the role http answers itself, for load balancers and containers. */
const OWN = ['/health', '/ready'] as const;

const ELSEWHERE = new Failure('SERVICE_UNAVAILABLE', 'This instance does not answer requests.', {
  suggestion: 'Send them to an instance with the role http: see ROLES, and GET /ready.',
  retryAfterSeconds: 1,
});

/** True of the routes that every process has. */
export const isOwn = ({ path }: { readonly path: string }): boolean =>
  (OWN as readonly string[]).includes(path);

/**
 * The application of a process without the role http. A request that came here by mistake is not refused for
 * good.
 */
export function withoutRequests(app: App, { clock, baseUrl }: Pick<HttpDeps, 'clock' | 'baseUrl'>): App {
  return {
    ...app,
    fetch(request, server) {
      const path = request.url.replace(/^https?:\/\/[^/]*/, '').replace(/\?.*$/s, '');
      if (isOwn({ path })) return app.fetch(request, server);
      const requestId = mintId('req', clock.now());
      return reply(ELSEWHERE, { requestId, baseUrl, rateLimit: null, status: 503 });
    },
  };
}
