import { describe, expect, test } from 'bun:test';
import type { Order } from '../../src/engine/machine/draft.ts';
import { type PostingWork, ReceivedPerformer } from '../../src/sending/received/performer.ts';

const NOW = Date.UTC(2026, 10, 28);
const LEASE_MS = 30_000;
const MEBIBYTE = 1_048_576;

/** The number of forwards that begin of sixteen messages of that size, each for another route. */
async function begun(size: number, leftMs = LEASE_MS): Promise<number> {
  let forwards = 0;
  const never = new Promise<never>(() => {});
  const work = {
    database: {
      query: async (_: string, [id]: readonly string[]) => [{ id, routeId: `inr_${id}`, size }],
      read: async () => [{ url: null, sealed: null, forwardTo: ['a@b.example'], domainName: 'b.example' }],
    },
    clock: { now: () => NOW },
    forwarding: () => {
      forwards += 1;
      return { database: { query: () => never, read: () => never } };
    },
  } as unknown as PostingWork;
  const performer = new ReceivedPerformer(work);
  for (let at = 0; at < 16; at++)
    void performer.perform({
      actor: { id: `${at}`, workspaceId: 'wks', timers: { lease: NOW + leftMs } },
      effect: { params: { attempt: 1 } },
    } as unknown as Order);
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  return forwards;
}

describe('forwards at once', () => {
  test('hold at most 64 MiB of messages, each counted four times', async () => {
    expect(await begun(1_000)).toBe(16);
    expect(await begun(4 * MEBIBYTE)).toBe(4);
    expect(await begun(4 * MEBIBYTE + 1)).toBe(3);
  });

  test('are one alone where it needs more', async () => {
    expect(await begun(25 * MEBIBYTE)).toBe(1);
  });

  test('begin only as long before the end of their lease as an attempt may take', async () => {
    expect(await begun(1_000, 12_000)).toBe(16);
    expect(await begun(1_000, 11_999)).toBe(0);
  });
});
