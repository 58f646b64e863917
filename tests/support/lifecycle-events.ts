import type { LifecycleName } from '../../machines/catalogue.ts';
import type { ContactImportContext } from '../../machines/contact-import/context.ts';
import type { DomainContext } from '../../machines/domain/context.ts';
import type { EmailContext } from '../../machines/email/context.ts';
import type { FlowRunContext } from '../../machines/flow-run/context.ts';
import type { ContextOf, EventOf, InputOf } from '../../machines/names.ts';
import type { ReceivedContext } from '../../machines/received/context.ts';
import type { WebhookDeliveryContext } from '../../machines/webhook-delivery/context.ts';
import type { WebhookEndpointContext } from '../../machines/webhook-endpoint/machine.ts';
import type { ActorEvent, Kinds } from '../../src/engine/machine/kind.ts';
import type { RandomSource } from '../../src/ops/torture/random.ts';
import { BEGINNINGS, everyEvent } from './engine-email-model.ts';

/** Random events for the actors of a lifecycle. */
export interface Happenings {
  input(random: RandomSource): unknown;
  /** An event from outside, sensible or not. */
  event(context: unknown, random: RandomSource): ActorEvent;
  /** Further members of a timer's event. */
  timerSays?(random: RandomSource): object;
}

type MachineOf<Name extends LifecycleName> = Kinds[Name]['machine'];
type Type<Name extends LifecycleName> = EventOf<MachineOf<Name>>['type'];

/** Total over the events of the machine: a new one does not compile until it happens here. */
type EventsOf<Name extends LifecycleName> = {
  readonly [T in Type<Name>]: (
    context: ContextOf<MachineOf<Name>>,
    random: RandomSource,
    at: number,
  ) => Omit<Extract<EventOf<MachineOf<Name>>, { type: T }>, 'type' | 'at'>;
};

function happenings<Name extends LifecycleName>(
  inputs: readonly InputOf<MachineOf<Name>>[],
  events: EventsOf<Name>,
): Happenings {
  const types = Object.keys(events) as Type<Name>[];
  return {
    input: (random) => random.pick(inputs),
    event: (context, random) => {
      const type = random.pick(types);
      const { at } = context as { readonly at: number };
      const when = at + random.pick(STEPS_MS);
      return { type, at: when, ...events[type](context as never, random, when) };
    },
  };
}

const HOUR = 3_600_000;
/** The time until the next event. */
const STEPS_MS = [0, 1, 1_000, 60_000, HOUR, 30 * HOUR, 100 * HOUR];
const AT = Date.parse('2026-11-20T12:00:00.000Z');

/** Mostly the number that is awaited. */
const about = (number: number, random: RandomSource): number => number + random.pick([0, 0, 0, 0, -1, 1]);

const attemptOutcome = (context: WebhookDeliveryContext, random: RandomSource, at: number) => ({
  attempt: about(context.attempt, random),
  attemptedAt: at - 40,
  httpStatus: random.pick([0, 200, 500]),
  responseBody: 'body',
  durationMs: 40,
  error: random.pick([null, 'timeout']),
  webhookId: 'wh_1',
  endpointIsFailing: random.pick([true, false]),
});

const receivedAttempt = (context: ReceivedContext, random: RandomSource, at: number) => ({
  attempt: about(context.attempt, random),
  attemptedAt: at - 40,
  httpStatus: random.pick([0, 200, 500]),
  responseBody: 'body',
  durationMs: 40,
  error: random.pick([null, 'timeout']),
});

const check = (context: DomainContext, random: RandomSource) => {
  const switchTo = random.pick(['selector', undefined]);
  return {
    attempt: about(context.attempt, random),
    verdict: random.pick(['verified', 'missing', 'wrong', 'unanswered'] as const),
    records: [],
    ...(switchTo === undefined ? {} : { switchTo }),
  };
};

const KEYS = { selector: 's', rsaValue: 'r', ed25519Value: 'e', sealedRsa: 'R', sealedEd25519: 'E' };
const domain = { at: AT, exempt: false, records: [], openTracking: false, clickTracking: false };

const emails: Happenings = {
  input: (random) => random.pick(Object.values(BEGINNINGS)),
  event: (context, random) => random.pick(everyEvent(context as EmailContext)).event,
};

/** The targets of the deciding steps of the drawn flow. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  hasOpened: ['met', 'met', 'met', 'notMet'],
  byCountry: ['german', 'german', 'default'],
};

/** Random events for runs whose steps lead there, and of which some wait for an event of that name. */
export function runHappenings(ways: Readonly<Record<string, readonly string[]>>, name: string): Happenings {
  const every = happenings<'flowRun'>(
    ['Europe/Vienna', 'UTC'].map((timeZone) => ({
      at: AT,
      leaseMs: 60_000,
      contactId: 'con_1',
      timeZone,
      occurrence: null,
      seen: '7',
      depth: 0,
    })),
    {
      'step.done': ({ visit, timeZone, step }, random) => ({
        visit: about(visit, random),
        way: random.pick(ways[step ?? ''] ?? ['default', 'default', 'default', 'unknown']),
        outcome: 'done',
        emailId: null,
        timeZone,
      }),
      'step.postponed': ({ visit }, random, at) => ({ visit: about(visit, random), until: at + 5_000 }),
      'step.held': ({ visit }, random) => ({ visit: about(visit, random) }),
      'step.failed': ({ visit }, random) => ({
        visit: about(visit, random),
        reason: 'broken',
      }),
      'event.came': ({ seen }, random) => ({
        name: random.pick([name, name, 'other']),
        position: String(Number(seen) + random.pick([-1, 0, 1, 1, 1])),
        ...(random.between(1, 8) === 1 && { isHeld: true }),
      }),
      'hold.ended': () => ({}),
      'exit.requested': (_, random) => ({ reason: random.pick(['goal', 'contact_deleted']) }),
      'cancel.requested': () => ({}),
    },
  );
  return {
    input: every.input,
    timerSays: (random) => (random.between(1, 8) === 1 ? { isHeld: true } : {}),
    // Events that end a run at once come seldom, so that walks get to the last step of a flow.
    event: (context, random) => {
      for (;;) {
        const event = every.event(context, random);
        const { status, awaits } = context as FlowRunContext;
        const leadsOn = awaits !== null ? 'event.came' : status === 'running' ? 'step.done' : 'hold.ended';
        if (event.type !== leadsOn && random.between(1, 6) > 1) continue;
        const ends = ['exit.requested', 'cancel.requested', 'step.failed'].includes(event.type);
        if (!ends || random.between(1, 2) === 1) return event;
      }
    },
  };
}

/** Random events for each of our machines. */
export const HAPPENINGS: Readonly<Record<LifecycleName, Happenings>> = {
  email: emails,
  apiKey: happenings<'apiKey'>([{ at: AT, permissions: ['*'] }], {
    'permissions.replaced': (_, random) => ({ permissions: random.pick([['*'], ['emails:read']]) }),
    'revoke.requested': () => ({}),
  }),
  domain: happenings<'domain'>([domain, { ...domain, exempt: true }], {
    'check.requested': () => ({}),
    'check.completed': check,
    'rotation.requested': () => ({ keys: KEYS }),
    'settings.changed': (_, random) =>
      random.pick([
        { openTracking: true },
        { clickTracking: true },
        { provider: null },
        { provider: 'smtp' },
      ]),
    'remove.requested': () => ({}),
  }),
  webhookEndpoint: happenings<'webhookEndpoint'>(
    [{ at: AT, url: 'https://example.com/', events: ['sent'] }],
    {
      'delivery.failed': ({ countedSince }: WebhookEndpointContext, random, at) => ({
        attemptedAt: random.pick([at, at, at, countedSince - 1]),
        ...random.pick([{}, { orderedAt: at, httpStatus: 500, error: null }, { orderedAt: countedSince }]),
      }),
      'delivery.succeeded': () => ({}),
      'settings.changed': (_, random) =>
        random.pick([
          { url: 'https://example.org/' },
          { events: ['delivered' as const] },
          { status: 'active' as const },
          { status: 'disabled' as const },
        ]),
      'secret.rotated': () => ({ sealed: 'sealed', prefix: 'whsec_ab' }),
      'replay.requested': (_, random, at) => ({
        from: at - HOUR,
        to: at,
        types: ['sent' as const],
        onlyFailed: random.pick([true, false]),
        most: random.between(1, 100_000),
      }),
      'delete.requested': () => ({}),
    },
  ),
  webhookDelivery: happenings<'webhookDelivery'>(
    [
      { at: AT, leaseMs: 30_000, turnAt: null },
      { at: AT, leaseMs: 30_000, turnAt: AT + 700 },
    ],
    {
      'attempt.succeeded': attemptOutcome,
      'attempt.failed': attemptOutcome,
      'attempt.declined': ({ attempt }, random) => ({ attempt: about(attempt, random) }),
      'endpoint.stopped': (_, random) => ({
        reason: random.pick(['endpoint_disabled', 'endpoint_deleted', 'event_expired'] as const),
      }),
      'redeliver.requested': () => ({}),
    },
  ),
  received: happenings<'received'>(
    [
      { at: AT, leaseMs: 30_000, isKept: false },
      { at: AT, leaseMs: 30_000, isKept: true },
    ],
    {
      'attempt.succeeded': receivedAttempt,
      'attempt.failed': receivedAttempt,
      'attempt.declined': ({ attempt }, random) => ({ attempt: about(attempt, random) }),
      'posting.stopped': ({ attempt }, random) => ({
        attempt: about(attempt, random),
        reason: random.pick(['route_deleted', 'route_keeps', 'content_expired', 'no_target'] as const),
      }),
      'message.forwarded': ({ attempt }, random) => ({ attempt: about(attempt, random), emailId: 'em_1' }),
      'redeliver.requested': () => ({}),
    },
  ),
  campaign: happenings<'campaign'>(
    [
      { at: AT, leaseMs: 15_000, hasCanary: false },
      { at: AT, leaseMs: 15_000, hasCanary: true },
    ],
    {
      'settings.changed': ({ at }, random) => ({
        seenAt: random.pick([at, at, at - 1]),
        hasCanary: random.pick([false, true]),
        settings: {},
      }),
      'send.requested': (_, random, at) => ({ scheduledAt: random.pick([null, null, at + HOUR]) }),
      'pause.requested': () => ({}),
      'unschedule.requested': () => ({}),
      'cancel.requested': () => ({}),
      'delete.requested': () => ({}),
      'audience.frozen': ({ attempt }, random) => ({
        attempt: about(attempt, random),
        total: 3,
        content: {},
      }),
      'start.refused': ({ attempt }, random) => ({
        attempt: about(attempt, random),
        failure: 'audience_gone',
      }),
      'turn.ended': ({ attempt, canary }, random) => ({
        attempt: about(attempt, random),
        place: 'con_1',
        waitMs: random.pick([0, 1_000]),
        canary,
      }),
      'recipients.exhausted': ({ attempt }) => ({ attempt }),
      'stop.demanded': ({ attempt }, random) => ({
        attempt: about(attempt, random),
        reason: 'quota_exceeded',
      }),
    },
  ),
  contactImport: happenings<'contactImport'>(
    [
      { at: AT, leaseMs: 10_000, checksFirst: false, dryRun: false, first: { offset: 6, line: 2 } },
      { at: AT, leaseMs: 10_000, checksFirst: true, dryRun: false, first: { offset: 6, line: 2 } },
      { at: AT, leaseMs: 10_000, checksFirst: false, dryRun: true, first: { offset: 6, line: 2 } },
      { at: AT, leaseMs: 10_000, checksFirst: true, dryRun: true, first: { offset: 6, line: 2 } },
    ],
    {
      'turn.begun': ({ attempt }, random) => ({ attempt: about(attempt, random) }),
      'turn.ended': ({ attempt }, random) => ({ attempt: about(attempt, random) }),
      'rows.read': ({ attempt, place }: ContactImportContext, random) => {
        const from = random.pick([place.offset, place.offset, place.offset, place.offset - 1]);
        return {
          attempt: about(attempt, random),
          from,
          to: { offset: from + 100, line: place.line + 3 },
          isLast: random.pick([false, false, true]),
          refused: random.pick([0, 0, 2]),
          rows: [],
        };
      },
      'file.lost': ({ attempt }, random) => ({ attempt: about(attempt, random) }),
      'cancel.requested': () => ({}),
    },
  ),
  flowRun: runHappenings(WAYS, 'order.placed'),
};
