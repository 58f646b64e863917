import type { Socket } from 'bun';
import { type PreparedRequest, takeReply } from '../load.ts';

interface Waiting {
  text: string;
  answered: () => void;
}

/** Connections over which as many requests go out at one moment. */
export interface Bursts extends Disposable {
  /** Sends one request over each connection, and resolves once all are answered. */
  burst(): Promise<void>;
}

/** Opens so many connections. A reply other than 202 rejects the burst. */
export async function openBursts(request: PreparedRequest, connections: number): Promise<Bursts> {
  let failed: ((error: Error) => void) | undefined;
  const bytes = typeof request.bytes === 'function' ? request.bytes() : request.bytes;
  const sockets: Socket<Waiting>[] = await Promise.all(
    Array.from({ length: connections }, () =>
      Bun.connect<Waiting>({
        hostname: '127.0.0.1',
        port: request.port,
        data: { text: '', answered: () => {} },
        socket: {
          data(socket, chunk) {
            socket.data.text += chunk.toString('latin1');
            const reply = takeReply(socket.data.text);
            if (!reply) return;
            socket.data.text = '';
            if (reply.status === '202') socket.data.answered();
            else failed?.(new Error(`Answered with ${reply.status}.`));
          },
          close: () => failed?.(new Error('The service closed a connection.')),
          error: (_, error) => failed?.(error),
        },
      }),
    ),
  );
  return {
    burst: () =>
      new Promise((resolve, reject) => {
        let open = sockets.length;
        failed = reject;
        const answered = () => {
          if (--open === 0) resolve();
        };
        for (const socket of sockets) {
          socket.data.answered = answered;
          socket.write(bytes);
        }
      }),
    [Symbol.dispose]() {
      failed = undefined;
      for (const socket of sockets) socket.end();
    },
  };
}
