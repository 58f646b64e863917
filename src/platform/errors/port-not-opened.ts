/** A port that cannot be opened; the message names it, and what to change. */
export class PortNotOpened extends Error {
  override readonly name = 'PortNotOpened';
}

/** The causes that an operator can remove, by the code of the system. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there: stop it, or set another port',
  EACCES: 'ports below 1024 need the capability CAP_NET_BIND_SERVICE: grant it, or set another port',
  EADDRNOTAVAIL: 'this machine has no such address: set HOST to one that it has, or to 0.0.0.0 for all',
};
/** Bun looks a name up, and answers one that there is not with codes that say nothing about it. */
const NO_ADDRESS = 'HOST must be an address of this machine, or a name that leads to one';

interface Place {
  readonly hostname: string;
  readonly port: number;
}

/** The error of a port that was not opened, which names the place and the remedy. */
export function portNotOpened({ hostname, port }: Place, cause: unknown): PortNotOpened {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const place = hostname.includes(':') ? `[${hostname}]:${port}` : `${hostname}:${port}`;
  const why = `The port ${place} could not be opened (${code || String(cause)})`;
  return new PortNotOpened(`${why}: ${REMEDIES[code] ?? NO_ADDRESS}.`, { cause });
}

/** Opens a port. @throws PortNotOpened */
export function openPort<Opened>(place: Place, open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    throw portNotOpened(place, error);
  }
}
