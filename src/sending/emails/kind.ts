import type { EmailContext } from '../../../machines/email/context.ts';
import { EMAIL_STATES, EMAIL_VERSION, emailMachine } from '../../../machines/email/machine.ts';
import { type ChildSpec, defineKind, stateOf } from '../../engine/machine/kind.ts';
import type { Performer } from '../../engine/runtime/performers.ts';
import type { Registration } from '../../engine/runtime/running-kind.ts';
import { isoOrNull } from '../../platform/time/clock.ts';
import { emailEffects, emailFacts, noted, recorded } from './facts.ts';

const clockIdOf = (context: unknown): string | undefined => (context as EmailContext).testClockId;
const isOnTestClock = (context: unknown): boolean => clockIdOf(context) !== undefined;

/** Emails as actors: where their lives are stored, and the tables that their effects write. */
export const emailKind = defineKind({
  name: 'email',
  table: 'emails_now',
  history: {
    inserts: 'emails',
    revisions: 'email_turns',
    due: 'email_due',
    dueWith: { is_bulk: 'campaign_id is not null' },
    insertedWith: ['at', 'scheduled_at'],
    insertedOnlyWith: [{ name: 'test_clock_id', type: 'text', of: clockIdOf }],
    computedAtInsert: { position: 'case when livemode then (select event_position()) end' },
    kept: [recorded.name, noted.name],
    constants: [
      'livemode',
      'acceptedAt',
      'admitted',
      'leaseMs',
      'patienceMs',
      'backoffMs',
      'holdsDoubt',
      'testClockId',
      'script',
    ],
    inColumns: [
      { member: 'at', column: 'at', isMoment: true },
      { member: 'scheduledAt', column: 'scheduled_at', isMoment: true },
      { member: 'lastEvent', column: 'last_event', isMoment: false },
      { member: 'failureReason', column: 'failure_reason', isMoment: false },
      { member: 'sentAt', column: 'sent_at', isMoment: true },
      { member: 'deliveredAt', column: 'delivered_at', isMoment: true },
    ],
    nullAtFirst: ['begunBy', 'firstAttemptAt'],
    computed: {
      position: {
        of: recorded.name,
        sql: `case when ${recorded.name} is not null then (select event_position()) end`,
      },
    },
  },
  idPrefix: 'em',
  machine: emailMachine,
  states: EMAIL_STATES,
  openEnded: ['script'],
  version: EMAIL_VERSION,
  derived: [
    { name: 'at', type: 'timestamptz', of: ({ at }) => isoOrNull(at) },
    { name: 'last_event', type: 'text', of: ({ lastEvent }) => lastEvent },
    { name: 'failure_reason', type: 'text', of: ({ failureReason }) => failureReason },
    {
      name: 'scheduled_at',
      type: 'timestamptz',
      of: ({ scheduledAt }) => isoOrNull(scheduledAt),
    },
    { name: 'sent_at', type: 'timestamptz', of: ({ sentAt }) => isoOrNull(sentAt) },
    {
      name: 'delivered_at',
      type: 'timestamptz',
      of: ({ deliveredAt }) => isoOrNull(deliveredAt),
    },
  ],
  spawn: {
    columns: `recipients text[], recipient_keys text[], sender_key text, subject text, tags text[], domain_id text,
    template_id text, campaign_id text, envelope json, content bytea`,
    insertColumns: [
      'recipients',
      'recipient_keys',
      'sender_key',
      'subject',
      'tags',
      'domain_id',
      'template_id',
      'campaign_id',
      'envelope',
      'content',
    ],
    insertInto: [],
  },
  actorColumnsForFacts: ['recipients', 'recipient_keys', 'campaign_id'],
  offers: {
    where: `(state = 'queued' and livemode)`,
    is: ({ snapshot, livemode }) => livemode && stateOf(snapshot) === 'queued',
    bulk: 'is_bulk',
    effect: 'transmit',
  },
  hasOwnTime: isOnTestClock,
  underWay: ['sending'],
  facts: emailFacts,
  children: [],
  journal: 'email_journal',
  effects: emailEffects,
});

/** The registration of the kind with the engine: its performer, and the children that its events create. */
export const emails = (performer: Performer, children: readonly ChildSpec[] = []): Registration => ({
  kind: { ...emailKind, children },
  performer,
});
