import { isIP } from 'node:net';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { hostOf } from '../../../platform/text/host.ts';
import type { AddressGuard } from './address-guard.ts';
import type { Target } from './connections.ts';

/** Most endpoints whose routes are remembered; beyond it the oldest route is computed again. */
const REMEMBERED = 1_000;

/** The parts of a request that follow from an endpoint and its URL alone, the same for every event. */
export interface Route extends Target {
  readonly url: string;
  /** True when the URL has an address, which is connected to without a lookup, and the guard refuses it. */
  readonly isForbidden: boolean;
  /** The head of a request up to the length of its body, and from there up to its signature. */
  readonly head: string;
  readonly middle: string;
}

/**
 * Works out the routes of endpoints, and remembers them: to parse and to check a URL takes longer than to
 * read an answer.
 */
export class Routes {
  readonly #known = new LruMap<string, Route>({ entries: REMEMBERED });

  constructor(private readonly guard: AddressGuard) {}

  of(webhookId: string, url: string): Route {
    const known = this.#known.get(webhookId);
    if (known?.url === url) return known;
    const route = this.#routeTo(webhookId, url);
    this.#known.set(webhookId, route);
    return route;
  }

  #routeTo(webhookId: string, url: string): Route {
    const target = new URL(url);
    const host = hostOf(target);
    const secure = target.protocol === 'https:';
    const port = Number(target.port) || (secure ? 443 : 80);
    return {
      url,
      secure,
      host,
      port,
      key: `${webhookId} ${secure ? 'https' : 'http'}://${host}:${port}`,
      isForbidden: isIP(host) !== 0 && !this.guard(host),
      head: [
        `POST ${target.pathname}${target.search} HTTP/1.1`,
        `host: ${target.host}`,
        'user-agent: svc-webhooks/1.0',
        'content-type: application/json',
        'content-length: ',
      ].join('\r\n'),
      middle: ['', 'accept-encoding: identity', `X-Svc-Webhook-Id: ${webhookId}`, 'X-Svc-Signature: '].join(
        '\r\n',
      ),
    };
  }
}
