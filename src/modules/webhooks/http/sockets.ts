import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { dns } from 'bun';
import type { Clock } from '../../../time/clock.ts';
import type { AddressGuard } from './address-guard.ts';

/** Idle time of a connection. Node's servers close after five seconds, and our side should close first. */
const IDLE_MS = 4_000;
/** Longest age of a connection. Without a limit a busy one would stay with a host that has moved. */
const AGE_MS = 60_000;
/** Most idle connections, because file descriptors are shared with everything else; further ones close after use. */
const IDLE_MAX = 1_000;
const IDLE_MAX_PER_ENDPOINT = 64;

/** Resolves a host name to all its addresses; rejects when there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * The resolver of the system through c-ares. Like getaddrinfo it reads /etc/hosts and keeps `.localhost` on loopback (RFC
 * 6761), but it occupies no thread while it waits: with 64 names whose servers were silent, getaddrinfo delayed every other
 * name for over a minute, c-ares none (measured).
 */
export const resolveBySystem: Resolve = async (name) => {
  const answers = await dns.lookup(name, { backend: 'c-ares' });
  return answers.map(({ address }) => address);
};

/** The reason why a connection was not attempted. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';

  constructor(readonly reason: 'unresolved_host' | 'forbidden_address') {
    super(reason);
  }
}

/**
 * Makes a `lookup` that returns the addresses of a name when all of them pass the guard, and none otherwise. The connection
 * uses exactly the addresses that were checked, so a name that answers differently the next time gains nothing.
 */
export function guardedLookup(guard: AddressGuard, resolve: Resolve): LookupFunction {
  return (name, _options, callback) => {
    const refuse = (reason: TargetRefused['reason']): void => callback(new TargetRefused(reason), []);
    resolve(name).then(
      (addresses) => {
        if (addresses.length === 0) refuse('unresolved_host');
        else if (!addresses.every(guard)) refuse('forbidden_address');
        else
          callback(
            null,
            addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          );
      },
      () => refuse('unresolved_host'),
    );
  };
}

/** The options of a request and the endpoint whose connections it may use. */
export interface EndpointRequest extends https.RequestOptions {
  readonly webhookId: string;
}

/** The idle connections, bounded in number and age. */
class IdleConnections {
  readonly #idle = new Set<Duplex>();
  readonly #knownSince = new WeakMap<Duplex, number>();

  constructor(private readonly clock: Clock) {}

  keep(socket: Duplex): boolean {
    const now = this.clock.monotonic();
    const since = this.#knownSince.get(socket);
    if (since === undefined) {
      this.#knownSince.set(socket, now);
      socket.once('close', () => this.#idle.delete(socket));
    }
    if (this.#idle.size >= IDLE_MAX || now - (since ?? now) > AGE_MS) return false;
    this.#idle.add(socket);
    return true;
  }

  take(socket: Duplex): void {
    this.#idle.delete(socket);
  }
}

/** Keeps the connections of endpoints apart: two customers with the same host never share one. */
function pooled<A extends http.Agent>(agent: A, idle: IdleConnections): A {
  const getName = agent.getName.bind(agent);
  const keepSocketAlive = agent.keepSocketAlive.bind(agent);
  const reuseSocket = agent.reuseSocket.bind(agent);
  return Object.assign(agent, {
    getName: (request: EndpointRequest) => `${request.webhookId} ${getName(request)}`,
    keepSocketAlive(socket: Duplex): boolean {
      const allowed: unknown = keepSocketAlive(socket);
      return allowed !== false && idle.keep(socket);
    },
    reuseSocket(socket: Duplex, request: http.ClientRequest): void {
      idle.take(socket);
      reuseSocket(socket, request);
    },
  });
}

/** The connections of webhooks. */
export interface Sockets {
  readonly http: http.Agent;
  readonly https: https.Agent;
  close(): void;
}

/**
 * Keeps connections for the next event of the same endpoint, which doubles to triples the throughput of one connection for each
 * event (tests/bench/webhook-post.ts). An address is checked when it is connected to, and the policy does not change while the
 * process runs, so an open connection needs no further check.
 */
export function openSockets(clock: Clock): Sockets {
  const idle = new IdleConnections(clock);
  const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_MAX_PER_ENDPOINT };
  const plain = pooled(new http.Agent(options), idle);
  const secure = pooled(new https.Agent(options), idle);
  return {
    http: plain,
    https: secure,
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}
