import { beforeEach, expect, test } from 'bun:test';
import { begin, NotBegun } from '../../../src/mail/transport/begin.ts';
import { orderOf, TransportOrder } from '../../../src/mail/transport/order.ts';
import { withoutReply } from '../../../src/mail/transport/smtp/outcome.ts';
import type { RecipientOutcome, SendLimits, Transport } from '../../../src/mail/transport/transport.ts';
import { FAILURES_TO_OPEN, FIRST_REST_MS } from '../../../src/platform/async/circuit.ts';
import { aMessage } from './a-message.ts';

const ACCEPTED = { outcome: 'accepted', response: 'ok' };
const DOWN = { outcome: 'deferred', response: '421 busy', isServerDown: true };
const IN_DOUBT = { outcome: 'unknown', response: 'no reply' };
const GREY = { outcome: 'deferred', response: '450 later' };

let now = 0;
let asked: string[] = [];
let answers: Partial<Record<Transport['name'], object>> = {};
let order: TransportOrder;

/** Begins as every transport does, and answers what the test says. */
const transport = (name: Transport['name'] | null): Transport => ({
  name: name ?? 'smtp',
  confirmsDelivery: name === 'direct',
  async send({ recipients: [recipient = ''] }, limits: SendLimits) {
    await begin(limits);
    asked.push(name ?? 'smtp');
    const answer = answers[name ?? 'smtp'] ?? ACCEPTED;
    return [{ ...withoutReply(recipient, 'deferred', '', 'General'), ...answer } as RecipientOutcome];
  },
  verify: async () => [],
  close: async () => {},
});

beforeEach(() => {
  now = 0;
  asked = [];
  answers = {};
  order = new TransportOrder(transport, () => now);
});

const LIMITS: SendLimits = { signal: new AbortController().signal, deadlineMs: 1_000 };
const send = async (fallbacks: readonly Transport['name'][] = ['ses', 'direct'], limits = LIMITS) => {
  const { by, outcomes } = await order.send(null, fallbacks, aMessage(), limits);
  return { by: by.name, ...outcomes[0] };
};

test('an order has each transport once, and ends with one that is never down by itself', () => {
  expect(orderOf('smtp', ['ses', 'direct'])).toEqual(['smtp', 'ses', 'direct']);
  expect(orderOf('ses', ['ses', 'smtp', 'smtp'])).toEqual(['ses', 'smtp']);
  expect(orderOf('direct', ['ses'])).toEqual(['direct']);
  expect(orderOf('capture', ['ses'])).toEqual(['capture']);
  expect(orderOf('smtp', ['direct', 'ses'])).toEqual(['smtp', 'direct']);
});

test('the next one gets what those before it have surely not taken, with the reason', async () => {
  expect(await send()).toMatchObject({ by: 'smtp', outcome: 'accepted', passedOver: [] });
  answers = { smtp: DOWN, ses: { ...DOWN, response: 'Throttled' } };
  expect(await send()).toMatchObject({
    by: 'direct',
    outcome: 'accepted',
    passedOver: ['smtp: 421 busy', 'ses: Throttled'],
  });
  expect(asked).toEqual(['smtp', 'smtp', 'ses', 'direct']);
});

test('one that refuses to take over is passed over with its reason, and is not asked while it rests', async () => {
  const asks: string[] = [];
  const refuses = async (name: Transport['name']) => {
    asks.push(name);
    return name === 'ses' ? 'no room' : null;
  };
  const sent = async () => {
    const { by, outcomes } = await order.send(null, ['ses', 'direct'], aMessage(), LIMITS, refuses);
    return { by: by.name, passedOver: outcomes[0]?.passedOver };
  };
  expect(await sent()).toEqual({ by: 'smtp', passedOver: [] });
  expect(asks).toEqual(['smtp']);
  answers = { smtp: DOWN };
  expect(await sent()).toEqual({ by: 'direct', passedOver: ['smtp: 421 busy', 'ses: no room'] });
  expect([asks, asked]).toEqual([
    ['smtp', 'smtp', 'ses', 'direct'],
    ['smtp', 'smtp', 'direct'],
  ]);
});

test('one message without room tries the first transport after its rest: else it would stay unused', async () => {
  answers = { smtp: DOWN };
  for (let each = 0; each < FAILURES_TO_OPEN; each++) await send();
  answers = {};
  const withoutRoom = async () => {
    const refuses = async (name: Transport['name']) => (name === 'smtp' ? 'no room' : null);
    return (await order.send(null, ['ses', 'direct'], aMessage(), LIMITS, refuses)).by.name;
  };
  expect([await withoutRoom(), order.isDown('smtp')]).toEqual(['ses', true]);
  now = FIRST_REST_MS;
  expect([await withoutRoom(), order.isDown('smtp')]).toEqual(['smtp', false]);
  expect(await withoutRoom()).toBe('ses');
});

test('of those without room that wait for a session at the same time, one goes', async () => {
  answers = { smtp: DOWN };
  for (let each = 0; each < FAILURES_TO_OPEN; each++) await send();
  answers = {};
  now = FIRST_REST_MS;
  let free = (): void => {};
  const session = new Promise<void>((resolve) => {
    free = resolve;
  });
  let leaves = 0;
  const refuses = async (name: Transport['name']) => (name === 'smtp' ? 'no room' : null);
  // The first has its session at once, the second only when the first has found the transport to work.
  const begun = async (): Promise<boolean> => {
    if (++leaves === 2) await session;
    return true;
  };
  const one = () => order.send(null, ['ses', 'direct'], aMessage(), { ...LIMITS, begin: begun }, refuses);
  const [first, second] = [one(), one()];
  expect((await first).by.name).toBe('smtp');
  expect(order.isDown('smtp')).toBe(false);
  free();
  expect((await second).by.name).toBe('ses');
});

test.each([
  ['doubt', IN_DOUBT],
  ['an answer about the message', GREY],
  ['a refusal', { outcome: 'refused', response: '550 no' }],
])('%s stays with the one that gave it', async (_, answer) => {
  answers = { smtp: answer };
  expect(await send()).toMatchObject({ by: 'smtp', ...answer });
  expect(asked).toEqual(['smtp']);
});

test('all are down: it is put off, with what the last one said', async () => {
  answers = { smtp: DOWN, ses: DOWN };
  expect(await send(['ses'])).toMatchObject({
    by: 'ses',
    outcome: 'deferred',
    passedOver: ['smtp: 421 busy'],
  });
});

test('one that is down is left alone for all domains, and tried by one message after its rest', async () => {
  answers = { smtp: DOWN };
  for (let each = 0; each < FAILURES_TO_OPEN; each++) await send(['ses']);
  asked = [];
  const sent = await send(['direct']);
  expect([asked, sent.passedOver]).toEqual([['direct'], ['smtp: left alone after failures, for 5 s more']]);
  expect(order.states).toContainEqual({ transport: 'smtp', state: 'open' });
  answers = {};
  now = FIRST_REST_MS;
  expect((await send()).by).toBe('smtp');
  expect(order.states).toContainEqual({ transport: 'smtp', state: 'closed' });
});

test('receivers that are down do not make direct delivery one that is left alone', async () => {
  answers = { smtp: DOWN, direct: DOWN };
  for (let each = 0; each < 2 * FAILURES_TO_OPEN; each++) expect((await send(['direct'])).by).toBe('direct');
  expect(order.states.map(({ transport }) => transport)).toEqual(['smtp']);
});

test('an attempt that may not go on keeps the outcome it has; one that never began has none', async () => {
  answers = { smtp: DOWN };
  let leaves = 1;
  const limits = { ...LIMITS, begin: async () => leaves-- > 0 };
  expect(await send(['ses'], limits)).toMatchObject({ by: 'smtp', outcome: 'deferred' });
  expect(asked).toEqual(['smtp']);
  expect(send(['ses'], limits)).rejects.toBeInstanceOf(NotBegun);
});
