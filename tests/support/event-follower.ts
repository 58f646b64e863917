import { expect } from 'bun:test';
import type { RealService } from '../contract/real-service.ts';
import { eventually } from './eventually.ts';

/** A client that follows the event log and keeps only the cursor. */
export class EventFollower {
  readonly seen: string[] = [];
  #cursor = '';

  ask(service: RealService, key: string) {
    return service.ask({ path: `/v1/events?limit=7${this.#cursor}`, key });
  }

  async catchUp(service: RealService, key: string): Promise<void> {
    for (;;) {
      const { status, body } = await this.ask(service, key);
      expect(status).toBe(200);
      this.seen.push(...body.data.map(({ id }: { id: string }) => id));
      this.#cursor = `&after=${body.pagination.nextCursor}`;
      if (!body.pagination.hasMore) return;
    }
  }

  /** Until it has seen so many. */
  reach(service: RealService, key: string, events: number): Promise<unknown> {
    return eventually(`${events} events`, async () => {
      await this.catchUp(service, key);
      return this.seen.length >= events ? true : undefined;
    });
  }
}
