import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** TCP in between two processes that counts what passes, both ways. */
export interface CountingRelay extends AsyncDisposable {
  readonly port: number;
  /** Octets so far. */
  readonly passed: number;
}

/** Listens on a free port of 127.0.0.1 and passes everything on to the target port there. */
export async function openCountingRelay(target: number): Promise<CountingRelay> {
  let passed = 0;
  const open = new Set<Socket>();
  const join = (from: Socket, to: Socket) => {
    open.add(from);
    from.on('data', (chunk: Buffer) => {
      passed += chunk.length;
    });
    // Whatever ends one side ends the other.
    from.on('error', () => to.destroy());
    from.on('close', () => {
      open.delete(from);
      to.destroy();
    });
    from.pipe(to);
  };
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true });
    join(client, server);
    join(server, client);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    get passed() {
      return passed;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
