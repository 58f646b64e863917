import { expect, test } from 'bun:test';
import { Decider } from '../../../src/engine/machine/decide.ts';
import { draftSpawn } from '../../../src/engine/machine/draft.ts';
import { fold, LEFT_TO_CLOCK, TIMERS_DUE } from '../../../src/engine/machine/fold.ts';
import type { Actor, ActorEvent, Kind } from '../../../src/engine/machine/kind.ts';
import { handedOver, shareOf, withoutOrders } from '../../../src/engine/machine/share.ts';
import type { Role } from '../../../src/platform/config/roles.ts';
import { LIVE_SCHEDULE, SIMULATED_SCHEDULE } from '../../../src/sending/emails/accept/attempt-schedule.ts';
import { emailKind } from '../../../src/sending/emails/kind.ts';
import { webhookDeliveryKind } from '../../../src/sending/webhooks/deliveries/kind.ts';
import { webhookEndpointKind } from '../../../src/sending/webhooks/endpoints/kind.ts';

const AT = 1_000_000;
const WHERE = { workspaceId: 'ws_1', livemode: false };

const as = (kind: Kind, ...roles: Role[]) => shareOf(roles, 'engine', kind);

function inserted(kind: Kind, input: object, livemode = false) {
  const decider = new Decider(kind.machine);
  const draft = draftSpawn(kind, decider, { ...WHERE, livemode, input: { at: AT, ...input } }, AT);
  return { decider, ...draft };
}

/** Folds one event as a process with these roles would; null when the actor refuses it. */
function told(kind: Kind, decider: Decider, actor: Actor, event: ActorEvent, ...roles: Role[]) {
  const pending = {
    id: actor.id,
    event,
    since: 0,
    settle() {},
    fail() {},
    decisions: 0,
    alone: false,
    doubts: [],
  };
  const folding = {
    kind,
    decider,
    share: as(kind, ...roles),
    replies: new Map(),
    handled: new Set<never>(),
    postpone() {},
  };
  return fold(folding, actor, true, [pending])?.draft ?? null;
}

const email = (livemode: boolean) =>
  inserted(
    emailKind,
    {
      livemode,
      scheduledAt: null,
      admitted: true,
      recipients: [{ simulate: null }],
      ...(livemode ? LIVE_SCHEDULE : SIMULATED_SCHEDULE),
    },
    livemode,
  );

test('a process that does everything stores an actor as its machine has it', () => {
  for (const { after, effects } of [email(true), email(false)])
    expect(handedOver(emailKind, as(emailKind, 'http', 'engine', 'delivery'), after, effects, AT)).toBe(
      after,
    );
});

test('live email is due at once in a process that does not deliver, and unchanged in one that does', () => {
  const { after, effects } = email(true);
  const [turn] = Object.keys(after.timers) as [string];
  expect(after.timers[turn]).toBe(AT + 1_000);
  for (const role of ['http', 'engine'] as const)
    expect(handedOver(emailKind, as(emailKind, role), after, effects, AT).timers).toEqual({ [turn]: AT });
  expect(handedOver(emailKind, as(emailKind, 'delivery'), after, effects, AT).timers).toEqual(after.timers);
});

test('an order for another process is among the timers, and is released there without a transition', () => {
  const { decider, after, effects } = email(false);
  const handed = handedOver(emailKind, as(emailKind, 'http'), after, effects, AT);
  const [lease] = Object.keys(after.timers) as [string];
  expect(Object.values(handed.timers).toSorted()).toEqual([AT, AT + SIMULATED_SCHEDULE.leaseMs]);
  expect(Math.min(...Object.values(handed.timers))).toBe(AT);
  const released = told(emailKind, decider, handed, { type: TIMERS_DUE, at: AT + 5 }, 'engine');
  expect(released?.effects).toEqual(effects.map(({ type, params }) => ({ type, params: params ?? {} })));
  expect(released?.steps).toEqual([]);
  expect(released?.after).toMatchObject({
    revision: 2,
    timers: { [lease]: AT + SIMULATED_SCHEDULE.leaseMs },
  });
  expect(released?.after.snapshot).toEqual(after.snapshot);
});

test('an order that was handed over does not outlive its state', () => {
  const { decider, after, effects } = inserted(webhookDeliveryKind, { leaseMs: 30_000, turnAt: null });
  const handed = handedOver(webhookDeliveryKind, as(webhookDeliveryKind, 'delivery'), after, effects, AT);
  expect(Object.keys(handed.timers)).toHaveLength(2);
  const stop = { type: 'endpoint.stopped', at: AT + 1, reason: 'endpoint_deleted' };
  expect(told(webhookDeliveryKind, decider, handed, stop, 'http')?.after.timers).toEqual({});
});

test('an order that was handed over and its lease, both overdue, are one attempt', () => {
  const { decider, after, effects } = inserted(webhookDeliveryKind, { leaseMs: 30_000, turnAt: null });
  const handed = handedOver(webhookDeliveryKind, as(webhookDeliveryKind, 'http'), after, effects, AT);
  const late = { type: TIMERS_DUE, at: AT + 30_001 };
  const woken = told(webhookDeliveryKind, decider, handed, late, 'engine');
  const posts = woken?.effects.filter(({ type }) => type === 'post');
  expect(posts).toEqual([{ type: 'post', params: { attempt: 2 } }]);
});

test('an order that was handed over stays while nothing leaves its state', () => {
  const { after, effects } = email(false);
  const { timers, snapshot } = handedOver(emailKind, as(emailKind, 'http'), after, effects, AT);
  const step = { event: 'report.received', from: 'sending', to: 'sending', at: AT, attempt: 1, effects: [] };
  const noted = { snapshot, timers, effects: [], step };
  expect(withoutOrders(emailKind, noted)).toEqual(timers);
  expect(withoutOrders(emailKind, { ...noted, effects })).toEqual(after.timers);
  expect(withoutOrders(emailKind, { ...noted, step: { ...step, to: 'queued' } })).toEqual(after.timers);
});

test('an insert that is left to the clock keeps the order that was handed over', () => {
  const { decider, after, effects } = email(false);
  const handed = handedOver(emailKind, as(emailKind, 'http'), after, effects, AT);
  const left = told(emailKind, decider, handed, { type: LEFT_TO_CLOCK, at: AT - 1 }, 'http');
  expect(left?.after.timers).toEqual(handed.timers);
});

test('what no timer would bring back is carried out where it was ordered', () => {
  const { decider, after } = inserted(webhookEndpointKind, { url: 'https://a.example', events: [] });
  const removed = told(webhookEndpointKind, decider, after, { type: 'delete.requested', at: AT + 1 }, 'http');
  expect(removed?.effects.map(({ type }) => type)).toContain('stopDeliveries');
  expect(removed?.after.timers).toEqual({});
});
