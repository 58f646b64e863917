import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook receiver that answers 200 and counts the receptions of each event. */
export class Receiver {
  /** Number of receptions, by event id. */
  readonly received = new Map<string, number>();

  private constructor(private readonly server: Server) {}

  /** Listens on a free port of 127.0.0.1. */
  static async open(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => {
        const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly id: string };
        receiver.received.set(id, (receiver.received.get(id) ?? 0) + 1);
        response.end('ok');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/events`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
