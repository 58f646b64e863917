import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { StateValueFrom } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import {
  type WebhookEndpointContext,
  type WebhookEndpointEvent,
  webhookEndpointMachine,
} from '../../machines/webhook-endpoint/machine.ts';
import { LoneActor } from '../support/lone-actor.ts';

const input = { at: 1_000, url: 'https://example.com/hook', events: ['delivered', 'bounced'] } as const;
const newEndpoint = () => new LoneActor<WebhookEndpointContext>(webhookEndpointMachine, input, input.at);

const failure = (at: number, attemptedAt = at) => ({ type: 'delivery.failed', at, attemptedAt }) as const;
const timeout = (orderedAt: number, attemptedAt: number, at: number): WebhookEndpointEvent => ({
  ...failure(at, attemptedAt),
  orderedAt,
  httpStatus: 0,
  error: 'timeout',
});
const success = (at: number) => ({ type: 'delivery.succeeded', at }) as const;
const rotation = (at: number) =>
  ({ type: 'secret.rotated', at, sealed: 'sealed', prefix: 'whsec_ab' }) as const;
const scope = { from: 10, to: 20, types: ['delivered'], onlyFailed: true, most: 50 } as const;
const replay = (at: number) => ({ type: 'replay.requested', at, ...scope }) as const;
const deletion = (at: number) => ({ type: 'delete.requested', at }) as const;
const change = (at: number, settings: object = { url: 'https://example.com/other' }) =>
  ({ type: 'settings.changed', at, ...settings }) as const;

type State = StateValueFrom<typeof webhookEndpointMachine>;

/** All that an endpoint in any state could be told, by name. */
const everyEvent = ({
  at,
  countedSince,
  lastFailures,
}: WebhookEndpointContext): Record<string, WebhookEndpointEvent> => ({
  failure: failure(at + 1),
  'failure of before': failure(at + 1, countedSince - 1),
  'failure beside': { ...failure(at + 1), orderedAt: lastFailures?.at(-1)?.at ?? 0 },
  success: success(at + 1),
  'new url': change(at + 1),
  'new events': change(at + 1, { events: ['sent'] }),
  disable: change(at + 1, { status: 'disabled' }),
  enable: change(at + 1, { status: 'active' }),
  rotation: rotation(at + 1),
  replay: replay(at + 1),
  deletion: deletion(at + 1),
});

const settings = ['new url', 'new events', 'disable', 'enable', 'rotation', 'deletion'];

/**
 * The events that each state takes; all others are refused. A success is taken only where failures were
 * counted.
 */
const taken = {
  active: ['failure', 'replay', ...settings],
  disabled: settings,
  deleted: [],
} as const satisfies Record<State, readonly string[]>;

const paths = getShortestPaths(webhookEndpointMachine, {
  input,
  events: ({ context }) => Object.values(everyEvent(context)),
  // Moments only ever grow; without them the graph is finite.
  serializeState: ({ value, context: { failureCount, url, events } }) =>
    JSON.stringify([value, failureCount, url, events]),
});

/** An endpoint that has come along one of the paths, stored and loaded again at each step. */
function along({ steps }: (typeof paths)[number]) {
  const endpoint = newEndpoint();
  for (const { event } of steps) {
    if ((event.type as string) === 'xstate.init') continue;
    endpoint.restore();
    expect(endpoint.tell(event)).toBe(true);
  }
  return endpoint;
}

describe('every path of the webhook endpoint machine', () => {
  test('reaches every state', () => {
    const reached = new Set(paths.map(({ state }) => state.value as string));
    expect([...reached].sort()).toEqual(Object.keys(webhookEndpointMachine.states).sort());
  });

  test('keeps the invariants of an endpoint', () => {
    expect(paths.length).toBeGreaterThan(40);
    for (const path of paths) {
      const { state, context, delays } = along(path);
      if (state === 'active') expect(context.failureCount).toBeLessThan(10);
      expect(context.failureCount).toBeLessThanOrEqual(10);
      expect(context.countedSince).toBeLessThanOrEqual(context.at);
      expect(delays).toEqual({});
      expect(JSON.parse(JSON.stringify(context))).toEqual(context);
    }
  });

  test('accepts the drawn events and refuses the others unchanged', () => {
    for (const path of paths) {
      const { context, state } = along(path);
      for (const [name, event] of Object.entries(everyEvent(context))) {
        const endpoint = along(path);
        const before = { context: endpoint.context, effects: endpoint.effects };
        const accepted =
          (taken[state as State] as readonly string[]).includes(name) ||
          (name === 'success' && state === 'active' && context.failureCount > 0);
        expect({ state, name, accepted: endpoint.tell(event) }).toEqual({ state, name, accepted });
        if (!accepted) expect({ context: endpoint.context, effects: endpoint.effects }).toEqual(before);
      }
    }
  });

  test('deletes from any living state, and tells its deliveries', () => {
    for (const path of paths) {
      const endpoint = along(path);
      if (endpoint.state === 'deleted') continue;
      expect(endpoint.tell(deletion(9_000))).toBe(true);
      expect(endpoint.state).toBe('deleted');
      expect(endpoint.effects).toEqual([
        { type: 'stopDeliveries', params: { reason: 'endpoint_deleted', at: 9_000 } },
        { type: 'forgetSecret', params: undefined },
        { type: 'refund', params: undefined },
      ]);
    }
  });
});

describe('the failure count of a webhook endpoint', () => {
  test('ten failures in a row disable it and stop its deliveries; nine and a success do not', () => {
    const endpoint = newEndpoint();
    const fail = (times: number, from: number): void => {
      for (let i = 0; i < times; i += 1) expect(endpoint.tell(failure(from + i))).toBe(true);
    };
    fail(9, 2_000);
    expect(endpoint).toMatchObject({ state: 'active', context: { failureCount: 9 }, effects: [] });
    endpoint.tell(success(3_000));
    expect(endpoint.context.failureCount).toBe(0);
    fail(9, 4_000);
    expect(endpoint.state).toBe('active');
    fail(1, 4_009);
    expect(endpoint).toMatchObject({ state: 'disabled', context: { failureCount: 10 } });
    expect(endpoint.effects).toEqual([
      { type: 'stopDeliveries', params: { reason: 'endpoint_disabled', at: 4_009 } },
    ]);
    expect(endpoint.tell(failure(5_000))).toBe(false);
  });

  test('whatever the order of outcomes, the count is that of the failures since the last success', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (outcomes) => {
        const endpoint = newEndpoint();
        let inARow = 0;
        for (const [i, failed] of outcomes.entries()) {
          if (inARow === 10) break;
          inARow = failed ? inARow + 1 : 0;
          endpoint.tell(failed ? failure(2_000 + i) : success(2_000 + i));
          expect(endpoint.context.failureCount).toBe(inARow);
          expect(endpoint.state).toBe(inARow === 10 ? 'disabled' : 'active');
        }
      }),
    );
  });

  /** Failures that end in the order given, each ordered and begun as told. */
  const after = (failures: readonly { ordered: number; began: number; ended: number }[]) => {
    const endpoint = newEndpoint();
    for (const { ordered, began, ended } of failures) endpoint.tell(timeout(ordered, began, ended));
    return endpoint;
  };
  const times = <T>(count: number, one: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => one(index));

  test.each([
    ['fifty that time out together', times(50, () => ({ ordered: 2_000, began: 2_000, ended: 12_000 })), 1],
    [
      'fifty that are refused within the same millisecond',
      times(50, () => ({ ordered: 2_000, began: 2_000, ended: 2_000 })),
      1,
    ],
    [
      'waves of those that waited for a slot',
      times(50, (i) => ({ ordered: 2_000, began: 2_001 + i * 3, ended: 2_003 + i * 3 })),
      1,
    ],
    [
      'those that overlap in a chain',
      times(10, (i) => ({ ordered: 2_000 + i * 6, began: 2_000 + i * 6, ended: 2_010 + i * 6 })),
      5,
    ],
    [
      'those that follow each other',
      times(10, (i) => ({ ordered: 2_001 + i * 10, began: 2_001 + i * 10, ended: 2_010 + i * 10 })),
      10,
    ],
  ])('%s count as the failures that followed each other', (_what, failures, count) => {
    const { state, context } = after(failures);
    expect([context.failureCount, state]).toEqual([count, count === 10 ? 'disabled' : 'active']);
    expect(context.lastFailures).toHaveLength(count);
  });

  test('the count is the longest chain of failures of which each was ordered after the one before had ended', () => {
    const interval = fc.record({
      ordered: fc.integer({ min: 1_001, max: 1_060 }),
      waited: fc.nat(5),
      took: fc.nat(12),
    });
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 30 }), (intervals) => {
        const failures = intervals
          .map(({ ordered, waited, took }) => ({
            ordered,
            began: ordered + waited,
            ended: ordered + waited + took,
          }))
          .sort((a, b) => a.ended - b.ended);
        const longest = failures.map(() => 0);
        for (const [i, { ordered }] of failures.entries())
          longest[i] =
            1 +
            Math.max(
              0,
              ...failures.slice(0, i).map((each, j) => (each.ended < ordered ? (longest[j] ?? 0) : 0)),
            );
        const { context } = after(failures);
        expect(context.failureCount).toBe(Math.min(10, Math.max(0, ...longest)));
      }),
    );
  });

  test('a disabled endpoint keeps when it was, why, and the answers that were counted; enabling forgets them', () => {
    const endpoint = after(
      times(10, (i) => ({ ordered: 2_001 + i * 10, began: 2_001 + i * 10, ended: 2_010 + i * 10 })),
    );
    expect(endpoint.context.disabled).toEqual({ at: 2_100, reason: 'failures' });
    expect(endpoint.context.lastFailures?.at(-1)).toEqual({ at: 2_100, httpStatus: 0, error: 'timeout' });
    endpoint.tell(change(3_000, { status: 'active' }));
    expect(endpoint.context).toMatchObject({ disabled: null, lastFailures: [], failureCount: 0 });
    endpoint.tell(change(4_000, { status: 'disabled' }));
    expect(endpoint.context.disabled).toEqual({ at: 4_000, reason: 'request' });
  });

  test('an endpoint that an earlier version has stored counts on from what it had', () => {
    const endpoint = newEndpoint();
    const { lastFailures: _, disabled: __, ...stored } = endpoint.context;
    endpoint.restore({ ...stored, failureCount: 8 });
    endpoint.tell(failure(2_000));
    expect(endpoint).toMatchObject({ state: 'active', context: { failureCount: 9 } });
    endpoint.tell(failure(2_001));
    expect(endpoint).toMatchObject({ state: 'disabled', context: { failureCount: 10 } });
    expect(endpoint.context.lastFailures).toHaveLength(2);
  });

  test('a rotation enables, forgets the failures, and those of attempts begun before it', () => {
    const endpoint = newEndpoint();
    for (let i = 0; i < 10; i += 1) endpoint.tell(failure(2_000));
    endpoint.tell(rotation(5_000));
    expect(endpoint).toMatchObject({ state: 'active', context: { failureCount: 0 } });
    expect(endpoint.effects).toEqual([
      { type: 'replaceSecret', params: { sealed: 'sealed', prefix: 'whsec_ab' } },
    ]);
    for (let i = 0; i < 20; i += 1) expect(endpoint.tell(failure(6_000, 4_999))).toBe(false);
    expect(endpoint.tell(failure(6_000, 5_000))).toBe(true);
    expect(endpoint.context.failureCount).toBe(1);
  });

  test('a rotation of an active endpoint forgets its failures too', () => {
    const endpoint = newEndpoint();
    for (let i = 0; i < 9; i += 1) endpoint.tell(failure(2_000));
    endpoint.tell(rotation(5_000));
    expect(endpoint).toMatchObject({ state: 'active', context: { failureCount: 0, countedSince: 5_000 } });
  });
});

describe('replays of a webhook endpoint', () => {
  test('are taken one at a time: the next when the turns of the one before are over', () => {
    const endpoint = newEndpoint();
    expect(endpoint.tell(replay(5_000))).toBe(true);
    expect(endpoint.effects).toEqual([{ type: 'replay', params: { ...scope, startAt: 5_000 } }]);
    expect(endpoint.context.replayUntil).toBe(6_000);
    expect(endpoint.tell(replay(5_000))).toBe(false);
    expect(endpoint.tell(replay(5_999))).toBe(false);
    expect(endpoint.tell(replay(6_000))).toBe(true);
    expect(endpoint.effects).toMatchObject([{ params: { startAt: 6_000 } }]);
  });

  test('of nothing delay no other', () => {
    const endpoint = newEndpoint();
    const ofNothing = { ...replay(5_000), most: 0 };
    expect(endpoint.tell(ofNothing)).toBe(true);
    expect(endpoint.tell(replay(5_000))).toBe(true);
  });

  test('go on through a rotation, and end with the endpoint that is disabled', () => {
    const endpoint = newEndpoint();
    endpoint.tell(replay(5_000));
    endpoint.tell(rotation(5_100));
    expect(endpoint.tell(replay(5_200))).toBe(false);
    endpoint.tell(change(5_300, { status: 'disabled' }));
    endpoint.tell(change(5_400, { status: 'active' }));
    expect(endpoint.tell(replay(5_400))).toBe(true);
    for (let i = 0; i < 10; i += 1) endpoint.tell(failure(5_500 + i));
    endpoint.tell(rotation(5_600));
    expect(endpoint.tell(replay(5_600))).toBe(true);
  });
});

describe('the settings of a webhook endpoint', () => {
  test('are not changed by who has seen others', () => {
    for (const settings of [{ events: ['opened'] }, { status: 'disabled' }, { status: 'active' }] as const) {
      const endpoint = newEndpoint();
      expect(endpoint.tell(change(2_000, { ...settings, seenAt: 1_000 }))).toBe(false);
      expect(endpoint.tell(change(2_000, { ...settings, seenAt: null }))).toBe(true);
      expect(endpoint.tell(change(2_000, { ...settings, seenAt: null }))).toBe(false);
      expect(endpoint.tell(change(2_000, settings))).toBe(true);
      expect(endpoint.tell(change(2_000, { ...settings, seenAt: 2_000 }))).toBe(false);
      expect(endpoint.tell(change(2_000, { ...settings, seenAt: 2_001 }))).toBe(true);
    }
  });

  test('what is named changes, the rest stays, and nothing else happens', () => {
    const endpoint = newEndpoint();
    endpoint.tell(failure(1_500));
    endpoint.tell(change(2_000, { events: ['opened'] }));
    expect(endpoint.context).toEqual({
      ...input,
      at: 2_000,
      changedAt: 2_000,
      events: ['opened'],
      failureCount: 1,
      lastFailures: [{ at: 1_500, httpStatus: 0, error: null }],
      disabled: null,
      countedSince: 1_000,
      replayUntil: 1_000,
    });
    endpoint.tell(change(3_000, { url: 'https://example.org/' }));
    expect(endpoint.context).toMatchObject({ url: 'https://example.org/', events: ['opened'] });
    expect(endpoint.effects).toEqual([]);
  });

  test('disabling stops the deliveries, enabling starts afresh; either can come with other changes', () => {
    const endpoint = newEndpoint();
    endpoint.tell(failure(1_500));
    endpoint.tell(change(2_000, { status: 'disabled', events: ['sent'] }));
    expect(endpoint).toMatchObject({ state: 'disabled', context: { failureCount: 1, events: ['sent'] } });
    expect(endpoint.effects).toEqual([
      { type: 'stopDeliveries', params: { reason: 'endpoint_disabled', at: 2_000 } },
    ]);
    endpoint.tell(change(3_000, { status: 'active', url: 'https://example.org/' }));
    expect(endpoint).toMatchObject({
      state: 'active',
      context: { failureCount: 0, countedSince: 3_000, url: 'https://example.org/' },
      effects: [],
    });
  });
});
