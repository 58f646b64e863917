import { setup } from 'xstate';
import { storedStates } from '../names.ts';
import type { CheckCompleted, DomainContext, DomainEvent, DomainInput, NextKeys, WarmUp } from './context.ts';
import {
  graceIsOver,
  isOnlyMissing,
  isUnchanged,
  isWrongOrOverdue,
  momentOf,
  newDomain,
  noCheckRuns,
  refutedSinceAfter,
  verdictOf,
  waitForRecheck,
  waitWhileProven,
  withOutcome,
  withoutProof,
  withProof,
  withSettings,
} from './rules.ts';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const DOMAIN_VERSION = 1;

const domainSetup = setup({
  types: { context: {} as DomainContext, events: {} as DomainEvent, input: {} as DomainInput },
  guards: {
    changesTransport: ({ context, event }) =>
      event.type === 'settings.changed' &&
      (event.provider !== undefined || event.fallbacks !== undefined) &&
      isUnchanged(context, event),
    changesWarmUps: ({ context, event }) =>
      event.type === 'settings.changed' && event.warmUps !== undefined && isUnchanged(context, event),
    nothingChangedSince: ({ context, event }) => isUnchanged(context, event),
    noRotationWaits: ({ context }) => context.rotatingSince === null,
    needsNoProof: ({ context }) => context.exempt,
    noCheckRuns: ({ context, event }) => noCheckRuns(context, event.at),
    checkIsAwaited: ({ context, event }) => verdictOf(context, event) !== null,
    isProven: ({ context, event }) => verdictOf(context, event) === 'verified',
    isWrongOrOverdue: ({ context, event }) => isWrongOrOverdue(context, event),
    isOnlyMissing: ({ context, event }) => isOnlyMissing(context, event),
    graceIsOver: ({ context, event }) => graceIsOver(context, event),
  },
  actions: {
    /** Order: look up the records, and report the outcome under this number. */
    check: (_, _params: { readonly attempt: number }) => {},
    /** Fact: these new keys wait for their records. */
    prepareKeys: (_, _params: { readonly keys: NextKeys | null }) => {},
    /** Fact: the keys of this selector replace those that have signed; null changes nothing. */
    switchKeys: (_, _params: { readonly selector: string | null }) => {},
    /**
     * Fact: its mail leaves by this transport from now on, by these while it is down, and warmed up so; what
     * is left out stays.
     */
    chooseTransport: (
      _,
      _params: {
        readonly provider?: string | null;
        readonly fallbacks?: readonly string[];
        readonly warmUps?: readonly WarmUp[];
      },
    ) => {},
    /** Fact: the unit of the plan's domains goes back. */
    refund: () => {},
    /** Fact: the private keys are gone. */
    forgetKeys: () => {},
  },
  delays: {
    /** The wait before a domain that is not proven is checked again. */
    recheck: ({ context }) => waitForRecheck(context),
    /** The wait before a proven domain is checked again. */
    daily: ({ context }) => waitWhileProven(context),
  },
});

const order = [
  domainSetup.assign(({ context, event }) => ({
    at: momentOf(context, event),
    attempt: context.attempt + 1,
    checkingSince: momentOf(context, event),
  })),
  {
    type: 'check' as const,
    params: ({ context }: { context: DomainContext }) => ({ attempt: context.attempt }),
  },
];

/** Records an outcome, and switches to new keys when their records were found. */
const noteCheck = [
  domainSetup.assign(({ context, event }) => withOutcome(context, event as CheckCompleted)),
  {
    type: 'switchKeys' as const,
    params: ({ event }: { event: DomainEvent }) => ({
      selector: event.type === 'check.completed' ? (event.switchTo ?? null) : null,
    }),
  },
];
const rotate = [
  domainSetup.assign(({ event }) => ({ at: event.at, rotatingSince: event.at })),
  {
    type: 'prepareKeys' as const,
    params: ({ event }: { event: DomainEvent }) => ({
      keys: event.type === 'rotation.requested' ? event.keys : null,
    }),
  },
];
const noteProof = domainSetup.assign(({ event }) => withProof(event.at));
const noteStillProven = domainSetup.assign(({ event }) => ({ since: event.at, refutedSince: null }));
const noteFailedCheck = domainSetup.assign(({ event }) => ({ since: event.at }));
const noteRefutation = domainSetup.assign(({ context, event }) => ({
  refutedSince: refutedSinceAfter(context, event as CheckCompleted),
}));
const loseProof = domainSetup.assign(({ event }) => withoutProof(event.at));
const noteRemoval = domainSetup.assign(({ event }) => ({ at: event.at, checkingSince: null }));
const changeSettings = domainSetup.assign(({ context, event }) => withSettings(context, event));

const chooseTransport = {
  type: 'chooseTransport' as const,
  params: ({ event }: { event: DomainEvent }) => ({
    ...(event.type === 'settings.changed' && event.provider !== undefined && { provider: event.provider }),
    ...(event.type === 'settings.changed' && event.fallbacks !== undefined && { fallbacks: event.fallbacks }),
    ...(event.type === 'settings.changed' && event.warmUps !== undefined && { warmUps: event.warmUps }),
  }),
};

/** The events that a domain takes in every state but `removed`. */
const always = {
  'check.requested': { guard: 'noCheckRuns', actions: order },
  'rotation.requested': { guard: 'noRotationWaits', actions: rotate },
  // Another transport needs other records. The check replaces one that may have begun with the old ones.
  'settings.changed': [
    { guard: 'changesTransport', actions: [changeSettings, chooseTransport, ...order] },
    { guard: 'changesWarmUps', actions: [changeSettings, chooseTransport] },
    { guard: 'nothingChangedSince', actions: changeSettings },
  ],
  'remove.requested': { target: 'removed', actions: [noteRemoval, 'forgetKeys', 'refund'] },
} as const;

/** The lifecycle of a sending domain. The API's `status` is the state. */
export const domainMachine = domainSetup.createMachine({
  id: 'domain',
  context: ({ input }) => newDomain(input),
  initial: 'added',
  states: {
    added: {
      description: 'Passed through at once; no domain is ever stored in it.',
      always: [
        { guard: 'needsNoProof', target: 'verified' },
        { target: 'pending', actions: order },
      ],
    },
    pending: {
      description:
        'Some of its DNS records are missing. The service checks again, soon at first, then hourly.',
      on: {
        ...always,
        'check.completed': [
          { guard: 'isProven', target: 'verified', actions: [...noteCheck, noteProof] },
          { guard: 'isWrongOrOverdue', target: 'failed', actions: noteCheck },
          { guard: 'checkIsAwaited', target: 'pending', reenter: true, actions: noteCheck },
        ],
      },
      // The next check is the lease of the current one: a lost check is simply repeated.
      after: { recheck: { target: 'pending', reenter: true, actions: order } },
    },
    verified: {
      description:
        'Live email may be sent from it. The service checks it once a day, or sooner while new keys wait.',
      on: {
        ...always,
        'rotation.requested': {
          guard: 'noRotationWaits',
          target: 'verified',
          reenter: true,
          actions: rotate,
        },
        'check.completed': [
          { guard: 'isProven', target: 'verified', reenter: true, actions: [...noteCheck, noteStillProven] },
          {
            guard: 'checkIsAwaited',
            target: 'temporaryFailure',
            actions: [...noteCheck, noteFailedCheck, noteRefutation],
          },
        ],
      },
      after: { daily: { target: 'verified', reenter: true, actions: order } },
    },
    temporaryFailure: {
      description:
        'It was verified, but the latest check did not confirm it. It keeps sending for 24 hours without an answer, for one hour with a wrong one.',
      on: {
        ...always,
        'check.completed': [
          { guard: 'isProven', target: 'verified', actions: [...noteCheck, noteStillProven] },
          { guard: 'graceIsOver', target: 'failed', actions: [...noteCheck, loseProof] },
          {
            guard: 'checkIsAwaited',
            target: 'temporaryFailure',
            reenter: true,
            actions: [...noteCheck, noteRefutation],
          },
        ],
      },
      after: { recheck: { target: 'temporaryFailure', reenter: true, actions: order } },
    },
    failed: {
      description:
        'A record is wrong, or some were missing for 72 hours. No live email is sent from it. Checks continue, so it recovers automatically.',
      on: {
        ...always,
        'check.completed': [
          { guard: 'isProven', target: 'verified', actions: [...noteCheck, noteProof] },
          { guard: 'isOnlyMissing', target: 'pending', actions: noteCheck },
          { guard: 'checkIsAwaited', target: 'failed', reenter: true, actions: noteCheck },
        ],
      },
      after: { recheck: { target: 'failed', reenter: true, actions: order } },
    },
    removed: { type: 'final', description: 'The owner has removed it; its keys are destroyed.' },
  },
});

/** The states that a domain is stored in. */
export const DOMAIN_STATES = storedStates(domainMachine, ['added']);
export type DomainState = (typeof DOMAIN_STATES)[number];
