import type { Server } from 'bun';
import { isDoneWithin } from './deadline.ts';

/** Time between two looks at the requests in flight. */
const LOOK_EVERY_MS = 20;

/**
 * Refuses new connections and waits for the requests in flight. `stop()` alone would also wait for a client
 * that has sent half a request and nothing since (measured: until its idle timeout), so the requests are
 * counted as well.
 */
export async function closeServer(server: Pick<Server<unknown>, 'stop' | 'pendingRequests'>): Promise<void> {
  const closed = server.stop();
  while (server.pendingRequests > 0) await isDoneWithin(LOOK_EVERY_MS, closed);
  await server.stop(true);
}
