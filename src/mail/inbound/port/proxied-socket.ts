import type { Socket } from 'node:net';
import { readProxyHeader } from './proxy-header.ts';

/** The time in which a balancer sends its header: it does so as soon as it has connected. */
const HEADER_MS = 10_000;

/**
 * A connection of a balancer that begins without its header, which no check of health does: the settings of
 * one of both are wrong.
 */
export class NoProxyHeader extends Error {}

/**
 * Reads the header of a balancer, and leaves what follows in the socket: the client's first words, or its TLS
 * handshake, may be in the same packet. `done` gets the address of the client, null for a connection of the
 * balancer itself. A connection that does not begin with a header is ended without a word: a greeting would
 * let a balancer without the setting look healthy, and count all its clients as one.
 */
export function takeProxyHeader(
  socket: Socket,
  done: (error: Error | null, client: string | null) => void,
  withinMs = HEADER_MS,
): void {
  let octets: Buffer = Buffer.alloc(0);
  let isDone = false;
  const finish = (error: Error | null, client: string | null): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    socket.off('readable', read).off('end', ended).off('close', ended);
    if (error) socket.destroy();
    else socket.off('error', finishBroken);
    done(error, client);
  };
  const fail = (why: string, Kind: new (message: string) => Error = NoProxyHeader): void =>
    finish(new Kind(`${why} from ${socket.remoteAddress}, which SMTP_TRUST_PROXY names.`), null);
  const finishBroken = (error: Error): void => finish(error, null);
  const ended = (): void => fail('The connection ended before a PROXY header came', Error);
  const read = (): void => {
    for (let chunk: Buffer | null = socket.read(); chunk !== null && !isDone; chunk = socket.read()) {
      octets = octets.length === 0 ? chunk : Buffer.concat([octets, chunk]);
      const header = readProxyHeader(octets);
      if (header === 'incomplete') continue;
      if (header === 'malformed') return fail('No PROXY header came');
      const rest = octets.subarray(header.octets);
      socket.off('readable', read);
      if (rest.length > 0) socket.unshift(rest);
      return finish(null, header.client);
    }
  };
  const timer = setTimeout(() => fail('No PROXY header came in time'), withinMs);
  timer.unref();
  // After a failure a late error of the socket is no one's.
  socket.on('error', finishBroken).on('readable', read).on('end', ended).on('close', ended);
}
