import { expect, test } from 'bun:test';
import type { Order } from '../../src/engine/machine/draft.ts';
import type { Transport } from '../../src/mail/transport/transport.ts';
import { BulkSupply } from '../../src/sending/emails/bulk/bulk-supply.ts';
import type { Sender } from '../../src/sending/emails/send/message.ts';
import type { Lane } from '../../src/sending/emails/warm-up/warm-ups.ts';

// The share that the warm-up of a domain leaves to its campaigns.

const warmUp = (provider: 'smtp' | 'ses') => ({
  provider,
  startedAt: '2026-11-20T08:00:00.000Z',
  perDay: [9],
});
const sender = (more: Partial<Sender> = {}): Sender => ({
  domainId: 'dom_1',
  dkim: [],
  returnPath: 'sender.example',
  receives: true,
  trackingHost: null,
  openTracking: false,
  clickTracking: false,
  provider: 'smtp',
  fallbacks: ['ses'],
  warmUps: [warmUp('smtp')],
  ...more,
});

function world(known: Sender, down: readonly Transport['name'][] = []) {
  const asked: Lane[] = [];
  const supply = new BulkSupply(
    {
      enabled: ['smtp', 'ses'],
      limits: { bulkSlots: 2 },
      clock: { monotonic: () => 0 },
      senders: { find: async () => known },
      transport: (name: Transport['name'] | null) => ({ name: name ?? 'smtp' }),
      warmUps: {
        roomOf: async (lane: Lane) => {
          asked.push(lane);
          return 5;
        },
      },
    } as never,
    { isDown: (name) => down.includes(name) },
  );
  return { supply, asked };
}

test('emails of a campaign that are here have their part of the room of their domain alone', async () => {
  const { supply } = world(sender());
  const orders = [{}, {}, {}] as Order[];
  for (const [index, order] of orders.entries()) {
    // Of the last one the domain is known once it was read.
    supply.come(order, index < 2 ? 'dom_1' : null);
    if (index === 2) supply.lineUp(order, 'dom_2');
  }
  const rooms = await Promise.all(['dom_1', 'dom_2', 'dom_3'].map((id) => supply.warmUpRoom(id)));
  expect(rooms).toEqual([3, 4, 5]);
  for (const order of orders) supply.leave(order);
  expect(await supply.warmUpRoom('dom_1')).toBe(5);
});

test('while a transport is down, the room is that of the next one in the order', async () => {
  const unlimited = world(sender(), ['smtp']);
  expect([await unlimited.supply.warmUpRoom('dom_1'), unlimited.asked]).toEqual([null, []]);
  const warmed = world(sender({ warmUps: [warmUp('smtp'), warmUp('ses')] }), ['smtp']);
  expect([await warmed.supply.warmUpRoom('dom_1'), warmed.asked[0]?.warmUp.provider]).toEqual([5, 'ses']);
  // When all are down the first one is asked.
  const away = world(sender(), ['smtp', 'ses']);
  expect([await away.supply.warmUpRoom('dom_1'), away.asked[0]?.warmUp.provider]).toEqual([5, 'smtp']);
});
