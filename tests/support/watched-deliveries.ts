import { eventually } from './eventually.ts';
import type { Receiver, World } from './webhook-world.ts';

/** A delivery as the API shows it. */
interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly status: string;
  readonly httpStatus: number;
  readonly retryCount: number;
  readonly error: string | null;
  readonly stopReason: string | null;
  readonly nextAttemptAt: string | null;
  readonly responseBody: string;
}

/**
 * Registers endpoints in a world, and waits for what becomes of their deliveries; the world of the moment
 * counts.
 */
export function watchedDeliveries(world: () => World, receiver: () => Receiver) {
  async function register(events: readonly string[] = ['delivered'], path = '') {
    const { body } = await world().test.post('/v1/webhooks', { url: receiver().url + path, events });
    return body.data as { readonly id: string; readonly secret: string };
  }
  const shown = async (id: string) => (await world().test.get(`/v1/webhooks/${id}`)).body.data;
  const deliveries = async (id: string): Promise<readonly Delivery[]> =>
    (await world().test.get(`/v1/webhooks/${id}/deliveries?limit=100`)).body.data;
  /** The deliveries of an endpoint, once the condition holds. */
  const once = (id: string, condition: (rows: readonly Delivery[]) => boolean) =>
    eventually(
      'deliveries',
      async () => {
        const rows = await deliveries(id);
        return condition(rows) ? rows : undefined;
      },
      { everyMs: 5 },
    );
  /** All that waits to be attempted has been. */
  const settled = (id: string, count: number) =>
    once(
      id,
      (rows) =>
        rows.length === count &&
        rows.every((row) => row.status !== 'scheduled' || row.nextAttemptAt !== null),
    );
  /** The endpoint, once so many failures have been counted. */
  const counted = (id: string, failures: number) =>
    eventually(
      `${failures} failures`,
      async () => {
        const webhook = await shown(id);
        return webhook.failureCount === failures ? webhook : undefined;
      },
      { everyMs: 5 },
    );
  return { register, shown, deliveries, once, settled, counted };
}
