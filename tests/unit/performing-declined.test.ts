import { expect, test } from 'bun:test';
import type { Order } from '../../src/engine/machine/draft.ts';
import { OrderRunner } from '../../src/engine/runtime/performers.ts';

test('an order that is not begun is declined with the reason: no place, or a stop', async () => {
  const declined: [string, boolean][] = [];
  const { promise: gate, resolve: end } = Promise.withResolvers<readonly []>();
  const performing = new OrderRunner(
    {
      slots: 1,
      backlog: 1,
      perform: () => gate,
      declined: ({ kind }, isStopping) => {
        declined.push([kind, isStopping]);
        return [];
      },
    },
    async () => {},
    () => {},
    () => Promise.reject(new Error('No event may be sent.')),
  );
  for (const kind of ['runs', 'waits', 'finds no place']) performing.take({ kind } as Order);
  expect(declined).toEqual([['finds no place', false]]);
  const stopped = performing.stopped();
  end([]);
  await stopped;
  expect(declined.slice(1)).toEqual([['waits', true]]);
});
