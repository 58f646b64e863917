import { expect, test } from 'bun:test';
import { begin } from '../../../src/mail/transport/begin.ts';
import { TransportOrder } from '../../../src/mail/transport/order.ts';
import { FailoverTransport } from '../../../src/mail/transport/smtp/failover.ts';
import { withoutReply } from '../../../src/mail/transport/smtp/outcome.ts';
import type { Transport } from '../../../src/mail/transport/transport.ts';
import { FAILURES_TO_OPEN, FIRST_REST_MS } from '../../../src/platform/async/circuit.ts';
import { aMessage } from './a-message.ts';

// Two relays that follow each other, before a transport that takes over from both.

let now = 0;
let asked: string[] = [];
const down = new Set<string>();

/** Begins as every transport does, before it opens anything. */
const way = (label: string, name: Transport['name'] = 'smtp'): Transport => ({
  name,
  confirmsDelivery: false,
  async send({ recipients: [recipient = ''] }, limits) {
    await begin(limits);
    asked.push(label);
    return [
      down.has(label)
        ? { ...withoutReply(recipient, 'deferred', `${label} is down`, 'General'), isServerDown: true }
        : { ...withoutReply(recipient, 'deferred', 'ok', 'General'), outcome: 'accepted' },
    ];
  },
  verify: async () => [],
  close: async () => {},
});

test('after its rest a transport of two relays is tried by one message, as often as it takes', async () => {
  const relays = new FailoverTransport(
    ['first', 'second'].map((name) => ({ name, transport: way(name) })),
    () => now,
  );
  const ses = way('ses', 'ses');
  const order = new TransportOrder(
    (name) => (name === 'ses' ? ses : relays),
    () => now,
  );
  const send = async () => {
    asked = [];
    const limits = { signal: new AbortController().signal, deadlineMs: 1_000 };
    const { by } = await order.send(null, ['ses'], aMessage(), limits);
    return [by.name, ...asked];
  };
  down.add('first').add('second');
  for (let each = 0; each < FAILURES_TO_OPEN; each++)
    expect(await send()).toEqual(['ses', 'first', 'second', 'ses']);
  expect(await send()).toEqual(['ses', 'ses']);
  now += FIRST_REST_MS;
  expect(await send()).toEqual(['ses', 'first', 'second', 'ses']);
  expect(order.states).toContainEqual({ transport: 'smtp', state: 'open' });
  down.clear();
  now += 2 * FIRST_REST_MS;
  expect(await send()).toEqual(['smtp', 'first']);
  expect(order.states).toContainEqual({ transport: 'smtp', state: 'closed' });
});
