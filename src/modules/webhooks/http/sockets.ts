import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../time/clock.ts';
import type { AddressGuard } from './address-guard.ts';
import type { Resolve } from './resolve.ts';

/** Below the five seconds after which Node's servers close an idle connection, so that ours closes first. */
const IDLE_MS = 4_000;
/** A busy connection would otherwise stay with a host that has moved for as long as events keep coming. */
const AGE_MS = 60_000;
/** File descriptors are shared with everything else; beyond these a connection closes after use. */
const IDLE_MAX = 1_000;
const IDLE_MAX_PER_ENDPOINT = 64;

/** A connection that was not attempted, and why. */
export class NoTarget extends Error {
  override readonly name = 'NoTarget';

  constructor(readonly reason: 'unresolved_host' | 'forbidden_address') {
    super(reason);
  }
}

/**
 * A `lookup` that answers a name's addresses when every one passed the guard, and none otherwise. What was checked is
 * what gets connected to: a name that answers differently the next time gains nothing.
 */
export function guardedLookup(guard: AddressGuard, resolve: Resolve): LookupFunction {
  return (name, _options, callback) => {
    const refuse = (reason: NoTarget['reason']): void => callback(new NoTarget(reason), []);
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

/** The options of a request, with the endpoint whose connections it may use. */
export interface EndpointRequest extends https.RequestOptions {
  readonly webhookId: string;
}

/** Which idle connections stay open: bounded in number and in age. */
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

/** Makes connections belong to one endpoint: two customers of the same host never share one. */
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

/** The connections that webhooks leave by. */
export interface Sockets {
  readonly http: http.Agent;
  readonly https: https.Agent;
  /** Ends the idle connections. */
  close(): void;
}

/**
 * Connections are kept for the next event of the same endpoint: two to three times the deliveries of a connection each
 * (tests/bench/webhook-post.ts). An address is checked when it is connected to, and the policy is fixed while the process runs, so
 * an open connection stays as good as it was.
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
