import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { type BudgetLimits, KeyedBudget } from '../../platform/async/keyed-budget.ts';
import { clientKey } from '../../platform/config/client-address.ts';
import { processesHere } from '../../platform/config/environment.ts';
import type { KeyPair } from '../../platform/crypto/certificate-source.ts';

/** A port that speaks TLS with the certificate of the moment. */
export interface SecureFront {
  readonly port: number;
  /** Serves later connections with another certificate; those that are open go on. */
  use(pair: KeyPair): void;
  /** The address of the client behind a connection from this front; undefined for one that is not from it. */
  clientOf(port: number): string | undefined;
  /** Accepts no further connection. */
  close(): void;
}

/** The address of the front, and the loopback port that receives the decrypted requests. */
export interface SecureFrontOptions {
  readonly hostname: string;
  readonly port: number;
  readonly pair: KeyPair;
  readonly behind: () => number;
  readonly shared?: boolean;
  /** The most connections at once, in all and of one client. */
  readonly room?: BudgetLimits;
}

const HANDSHAKE_MS = 10_000;
/** The silence after which a connection is ended; the server behind ends idle ones earlier. */
const SILENT_MS = 180_000;

/** The memory of an open connection with its TLS (measured with 2,000: 33 KiB). */
const CONNECTION_OCTETS = 36_864;

/**
 * Connections take a quarter of the memory at most: those that ask for nothing are kept for a while before
 * their client has shown a key. One client, which may be a proxy for many, has half of them.
 */
function roomIn(octets: number): BudgetLimits {
  const total = Math.floor(octets / 4 / CONNECTION_OCTETS);
  return { total, each: Math.floor(total / 2) };
}

const contextOf = ({ certificate, key }: KeyPair): SecureContext =>
  createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' });

/**
 * Listens for TLS. `Bun.serve` cannot change the certificate of an open port, and a second listener in its
 * place loses the connections that wait to be accepted (measured: 319 of 4,579 in 216 changes); here each
 * connection takes the one of its moment.
 */
export async function openSecureFront(options: SecureFrontOptions): Promise<SecureFront> {
  const { hostname, port, pair, behind, shared = false } = options;
  const { room = roomIn(process.constrainedMemory() / processesHere()) } = options;
  const held = new KeyedBudget(room);
  let context = contextOf(pair);
  const clients = new Map<number, string>();

  const accept = (raw: Socket): void => {
    const { remoteAddress: client } = raw;
    const key = clientKey(client ?? '');
    if (!held.take(key)) {
      raw.destroy();
      return;
    }
    raw.once('close', () => held.give(key));
    const secured = new TLSSocket(raw, { isServer: true, secureContext: context });
    const end = (): void => {
      secured.destroy();
      raw.destroy();
    };
    const patience = setTimeout(end, HANDSHAKE_MS);
    raw.on('error', end);
    secured.on('error', end);
    raw.once('close', () => clearTimeout(patience));
    secured.once('secure', () => {
      clearTimeout(patience);
      if (client === undefined) return end();
      const inner = connect({ host: '127.0.0.1', port: behind() });
      inner.once('error', end);
      inner.once('connect', () => {
        const { localPort } = inner;
        if (localPort === undefined) return end();
        clients.set(localPort, client);
        inner.once('close', () => clients.delete(localPort));
        secured.setTimeout(SILENT_MS, end);
        pipeline(secured, inner, () => {});
        pipeline(inner, secured, end);
      });
    });
  };

  const server = createServer({ noDelay: true }, accept);
  server.listen({ host: hostname, port, reusePort: shared });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    use: (next) => {
      context = contextOf(next);
    },
    clientOf: (from) => clients.get(from),
    close: () => void server.close(),
  };
}
