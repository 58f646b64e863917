import { setup } from 'xstate';

/** Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. */
export const DOMAIN_VERSION = 2;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Records that nobody has set by then are not awaited any more; a look a day remains. */
export const PATIENCE_MS = 72 * HOUR_MS;
/** So long a verified domain keeps sending while DNS gives no answer. */
export const OUTAGE_GRACE_MS = DAY_MS;
/** So long it keeps sending while DNS gives a wrong answer: a zone that is just being edited or moved rights itself. */
export const REFUTED_GRACE_MS = HOUR_MS;
/** A check without an outcome by then is lost, and another one may be asked for. */
export const CHECK_LEASE_MS = 30_000;

/** How one DNS record stands. */
export interface RecordStanding {
  /** Which of the domain's records it is. */
  readonly slot: string;
  /** Of what was to be set: once something else is to be set, this standing says nothing of it. */
  readonly fingerprint: string;
  readonly status: 'pending' | 'verified' | 'failed';
  /** What is there instead, or as well. */
  readonly found: readonly string[];
  /** A sentence; null when nothing is wrong. */
  readonly error: string | null;
}

/**
 * What a check came to, over the records that are required. `missing`: some are not there yet, none is wrong.
 * `unanswered`: DNS (or the provider) said nothing, so nothing may be concluded.
 */
export type Verdict = 'verified' | 'missing' | 'wrong' | 'unanswered';

/** New DKIM keys of a domain: what is to be published of them, and the private halves, sealed. */
export interface NextKeys {
  readonly selector: string;
  readonly rsaValue: string;
  readonly ed25519Value: string;
  readonly sealedRsa: string;
  readonly sealedEd25519: string;
}

/** What a domain's machine remembers. Names and keys lie in its row. Times are epoch milliseconds. */
export interface DomainContext {
  /** When the last event happened; delays count from here. */
  readonly at: number;
  /** Nothing leaves, and the name cannot exist: there is nothing to prove. */
  readonly exempt: boolean;
  /** Number of the latest check that was ordered; its outcome must carry it. */
  readonly attempt: number;
  /** When the check under way was ordered; null when none is. */
  readonly checkingSince: number | null;
  /** When it was added, proven, or first in trouble: the longer ago, the rarer the re-checks. */
  readonly since: number;
  /** When DNS first contradicted what had been proven; null while it has not. */
  readonly refutedSince: number | null;
  readonly verifiedAt: number | null;
  readonly lastCheckedAt: number | null;
  /** When new keys were asked for whose records are awaited; null while none are. */
  readonly rotatingSince: number | null;
  readonly records: readonly RecordStanding[];
  readonly openTracking: boolean;
  readonly clickTracking: boolean;
}

/** What is known of a domain when it is added. */
export type DomainInput = Pick<DomainContext, 'at' | 'exempt' | 'records' | 'openTracking' | 'clickTracking'>;

export type DomainEvent =
  /** Somebody wants to know now. */
  | { readonly type: 'check.requested'; readonly at: number }
  /** DNS has been asked for every record. */
  | {
      readonly type: 'check.completed';
      readonly at: number;
      readonly attempt: number;
      readonly verdict: Verdict;
      readonly records: readonly RecordStanding[];
      /** The selector of new keys whose records are there: they sign from now on. */
      readonly switchTo?: string;
    }
  /** A client wants other DKIM keys. They sign once their records are seen, and the old ones until then. */
  | { readonly type: 'rotation.requested'; readonly at: number; readonly keys: NextKeys }
  /** A client changes what is tracked by default, or the way that mail leaves by. */
  | {
      readonly type: 'settings.changed';
      readonly at: number;
      readonly openTracking?: boolean;
      readonly clickTracking?: boolean;
      /** Another way than before; null for the default one. */
      readonly provider?: string | null;
    }
  /** A client removes the domain for good. */
  | { readonly type: 'remove.requested'; readonly at: number };

type CheckCompleted = Extract<DomainEvent, { type: 'check.completed' }>;

/** As long again as it has lasted so far: after 1, 2, 4, … minutes, then hourly; daily once patience has ended. */
const paceAfter = (lasted: number): number =>
  lasted >= PATIENCE_MS ? DAY_MS : Math.min(HOUR_MS, Math.max(MINUTE_MS, lasted));

/** Internal events of XState carry no time in its types; the engine gives them one. */
const momentOf = (context: DomainContext, event: { readonly at?: number }): number => event.at ?? context.at;

/** An instance of version 1 that is still being replaced adds domains without it. */
const rotatingSinceOf = ({ rotatingSince }: DomainContext): number | null => rotatingSince ?? null;

/** The verdict of the check that is awaited; null for any other event. */
const verdictOf = (context: DomainContext, event: DomainEvent): Verdict | null =>
  event.type === 'check.completed' && event.attempt === context.attempt && context.checkingSince !== null
    ? event.verdict
    : null;

const isRefuting = (verdict: Verdict | null): boolean => verdict === 'missing' || verdict === 'wrong';

const domainSetup = setup({
  types: { context: {} as DomainContext, events: {} as DomainEvent, input: {} as DomainInput },
  guards: {
    takesAnotherWay: ({ event }) => event.type === 'settings.changed' && event.provider !== undefined,
    noRotationWaits: ({ context }) => rotatingSinceOf(context) === null,
    needsNoProof: ({ context }) => context.exempt,
    noCheckRuns: ({ context, event }) =>
      context.checkingSince === null || event.at - context.checkingSince >= CHECK_LEASE_MS,
    checkIsAwaited: ({ context, event }) => verdictOf(context, event) !== null,
    isProven: ({ context, event }) => verdictOf(context, event) === 'verified',
    isWrongOrOverdue: ({ context, event }) => {
      const verdict = verdictOf(context, event);
      return verdict === 'wrong' || (verdict === 'missing' && event.at - context.since >= PATIENCE_MS);
    },
    isOnlyMissing: ({ context, event }) =>
      verdictOf(context, event) === 'missing' && event.at - context.since < PATIENCE_MS,
    graceIsOver: ({ context, event }) => {
      const verdict = verdictOf(context, event);
      if (verdict === null) return false;
      const refutedFor = event.at - (context.refutedSince ?? event.at);
      return (
        event.at - context.since >= OUTAGE_GRACE_MS || (isRefuting(verdict) && refutedFor >= REFUTED_GRACE_MS)
      );
    },
  },
  actions: {
    /** Order: look up the records, and tell what was found under this number. */
    check: (_, _params: { readonly attempt: number }) => {},
    /** Fact: these keys are there, and wait for their records. */
    prepareKeys: (_, _params: { readonly keys: NextKeys | null }) => {},
    /** Fact: the keys of this selector sign, and those that have signed are gone; nothing where there is none. */
    switchKeys: (_, _params: { readonly selector: string | null }) => {},
    /** Fact: its mail leaves by this way from now on. */
    chooseWay: (_, _params: { readonly provider: string | null }) => {},
    /** Fact: the place among the plan's domains is free again. */
    freePlace: () => {},
    /** Fact: the private keys are gone. */
    forgetKeys: () => {},
  },
  delays: {
    recheck: ({ context }) => paceAfter(context.at - context.since),
    /** Until a proven domain is looked at again: a day, or sooner while records of new keys are awaited. */
    daily: ({ context }) => {
      const since = rotatingSinceOf(context);
      return since === null ? DAY_MS : paceAfter(context.at - since);
    },
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

/** What every outcome leaves behind, whatever it means for the state. */
const noteCheck = [
  domainSetup.assign(({ context, event }) => {
    const { at, records, switchTo } = event as CheckCompleted;
    const rotatingSince = switchTo === undefined ? rotatingSinceOf(context) : null;
    return { at, records, checkingSince: null, lastCheckedAt: at, rotatingSince };
  }),
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
const noteProof = domainSetup.assign(({ event }) => ({
  since: event.at,
  refutedSince: null,
  verifiedAt: event.at,
}));
const noteStillProven = domainSetup.assign(({ event }) => ({ since: event.at, refutedSince: null }));
const noteTrouble = domainSetup.assign(({ event }) => ({ since: event.at }));
const noteRefutation = domainSetup.assign(({ context, event }) => ({
  refutedSince: context.refutedSince ?? (isRefuting((event as CheckCompleted).verdict) ? event.at : null),
}));
const loseProof = domainSetup.assign(({ event }) => ({
  since: event.at,
  refutedSince: null,
  verifiedAt: null,
}));
const noteRemoval = domainSetup.assign(({ event }) => ({ at: event.at, checkingSince: null }));
const changeSettings = domainSetup.assign(({ context, event }) => {
  if (event.type !== 'settings.changed') return {};
  const { at, openTracking = context.openTracking, clickTracking = context.clickTracking } = event;
  return { at, openTracking, clickTracking };
});

const chooseWay = {
  type: 'chooseWay' as const,
  params: ({ event }: { event: DomainEvent }) => ({
    provider: event.type === 'settings.changed' ? (event.provider ?? null) : null,
  }),
};

/** What any domain takes that is still there. */
const always = {
  'check.requested': { guard: 'noCheckRuns', actions: order },
  'rotation.requested': { guard: 'noRotationWaits', actions: rotate },
  // Another way asks for other records. The check replaces one that may have begun with the old ones.
  'settings.changed': [
    { guard: 'takesAnotherWay', actions: [changeSettings, chooseWay, ...order] },
    { actions: changeSettings },
  ],
  'remove.requested': { target: 'removed', actions: [noteRemoval, 'forgetKeys', 'freePlace'] },
} as const;

/** The life of a sending domain. The API's `status` is the state. */
export const domainMachine = domainSetup.createMachine({
  id: 'domain',
  context: ({ input }) => ({
    ...input,
    attempt: 0,
    checkingSince: null,
    since: input.at,
    refutedSince: null,
    rotatingSince: null,
    verifiedAt: input.exempt ? input.at : null,
    lastCheckedAt: null,
  }),
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
        'Its DNS records are not all there yet. It is looked at again, soon at first, then hourly.',
      on: {
        ...always,
        'check.completed': [
          { guard: 'isProven', target: 'verified', actions: [...noteCheck, noteProof] },
          { guard: 'isWrongOrOverdue', target: 'failed', actions: noteCheck },
          { guard: 'checkIsAwaited', target: 'pending', reenter: true, actions: noteCheck },
        ],
      },
      // The re-check is the lease of the check before it: one that was lost is simply made again.
      after: { recheck: { target: 'pending', reenter: true, actions: order } },
    },
    verified: {
      description: 'Live email may be sent from it. Looked at once a day, or sooner while new keys wait.',
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
            actions: [...noteCheck, noteTrouble, noteRefutation],
          },
        ],
      },
      after: { daily: { target: 'verified', reenter: true, actions: order } },
    },
    temporaryFailure: {
      description:
        'Was verified, and the latest look did not confirm it. Sends on, for 24 hours without an answer or one hour with a wrong one.',
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
        'A record is wrong, or none came within 72 hours. Nothing is sent from it; it is still looked at, and heals by itself.',
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
    removed: { type: 'final', description: 'Gone for its owner; its keys are destroyed.' },
  },
});
