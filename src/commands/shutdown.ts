import type { Server } from 'bun';
import { isDoneWithin } from '../async/deadline.ts';

/** Resolves with the name of the first signal that asks the process to stop. A second one ends it at once. */
export function stopRequested(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
}

/** A closing server is asked this often whether requests are left. */
const LOOK_EVERY_MS = 20;

/**
 * Refuses new connections and waits for the requests in flight. `stop()` alone would also wait for a client that has
 * sent half a request and nothing since (measured: until its idle timeout), so the requests are counted as well.
 */
export async function closeServer(server: Pick<Server<unknown>, 'stop' | 'pendingRequests'>): Promise<void> {
  const closed = server.stop();
  while (server.pendingRequests > 0) await isDoneWithin(LOOK_EVERY_MS, closed);
  await server.stop(true);
}
