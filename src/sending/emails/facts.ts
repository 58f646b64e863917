import type { EmailContext } from '../../../machines/email/context.ts';
import type { emailMachine } from '../../../machines/email/machine.ts';
import { WEAKEST_REASON } from '../../../machines/email/rules.ts';
import { givenBack } from '../../accounts/usage/queries.ts';
import type { EffectMeanings, FactTable, Snapshot } from '../../engine/machine/kind.ts';
import { sharedFact } from '../../engine/store/shared-fact.ts';
import { messageIdOfSes } from '../../mail/transport/ses/ses-message-id.ts';
import { mintId } from '../../platform/db/ids.ts';
import { FORGOTTEN_DOMAIN } from '../../platform/text/forgotten.ts';
import { periodOf, storableMoment } from '../../platform/time/clock.ts';
import { enterReasonSql } from '../suppressions/queries.ts';
import { insertSentIds } from './accept/sent-message-ids.ts';

/**
 * The event log. It lies in the turns (the view `email_events` shows it), and is shared: webhooks write their
 * deliveries from it in the commit that records the events. A recipient is an index, since addresses are no
 * part of a machine's context.
 */
export const recorded = sharedFact(
  'recorded',
  ['id', 'email_id', 'workspace_id', 'livemode', 'type', 'test_clock_id', 'occurred_at'],
  {
    topic: 'type',
    columns: 'id text, type text, recipient integer, occurred_at timestamptz, data json, test_clock_id text',
    sql: (source, answers) => `select ${answers} from (select s.*, actor as email_id from ${source} s) r`,
  },
);

/**
 * Says that the events of a commit are of an email on a test clock: only such commits make the deliveries
 * that wait by one.
 */
export const recordedOnClock: FactTable = {
  name: 'recorded_on_clock',
  columns: 'is_so boolean',
  sql: null,
};

/** Outcomes that leave no event (deferred, unknown), for `explain`; the view `email_attempts` shows them. */
export const noted: FactTable = {
  name: 'noted',
  columns: 'attempt integer, recipient integer, outcome text, at timestamptz, data json',
  sql: null,
};

/**
 * The suppression list. The placeholder of a forgotten person is no address and does not identify a person.
 */
const suppressed: FactTable = {
  name: 'suppressed',
  columns: 'recipient integer, reason text, at timestamptz',
  readsActor: true,
  sql: (
    source,
  ) => `insert into suppressions (workspace_id, address_key, address, reason, email_id, created_at, unsubscribed_at, complained_at)
    select distinct on (workspace_id, address_key) workspace_id, address_key, address, reason, actor, at,
      case when reason <> 'unsubscribed' then min(at) filter (where reason = 'unsubscribed') over same end,
      case when reason <> 'complained' then min(at) filter (where reason = 'complained') over same end
    from (
      select workspace_id, recipient_keys[recipient + 1] as address_key, recipients[recipient + 1] as address, reason, actor, at
      from ${source} s where recipient_keys[recipient + 1] not like 'forgotten-%@${FORGOTTEN_DOMAIN}'
    ) s window same as (partition by workspace_id, address_key)
    order by workspace_id, address_key, reason = '${WEAKEST_REASON}', at
    ${enterReasonSql('suppressions')}`,
};

/** The Message-IDs of copies that SES has given one, by which replies find them. */
const renamed: FactTable = {
  name: 'renamed',
  columns: 'recipient integer, message_id text, sent_at timestamptz',
  readsActor: true,
  sql: (source) =>
    insertSentIds(`select workspace_id, livemode, message_id, recipient_keys[recipient + 1] as recipient_key, actor as email_id, sent_at
    from ${source} s`),
};

/** The tables that an email's effects write. */
export const emailFacts: readonly FactTable[] = [
  recorded,
  recordedOnClock,
  noted,
  givenBack,
  suppressed,
  renamed,
];

/**
 * The time in the id of an event, and so in those of its deliveries, by which they are listed, sent again and
 * removed: the real one. By a test clock of 2036 they would be kept for ten years. Its email's real time is
 * the acceptance; what comes of a later attempt, or of its script, sorts behind, in real time also what comes
 * within one millisecond.
 */
const timeOfEventId = ({ testClockId, acceptedAt, attempt, scripted }: EmailContext, at: number): number =>
  (testClockId === undefined ? at : acceptedAt + attempt) + (scripted?.done ?? 0);

const clockOf = ({ context }: Pick<Snapshot, 'context'>): { readonly test_clock_id: string } | null => {
  const { testClockId } = context as EmailContext;
  return testClockId === undefined ? null : { test_clock_id: testClockId };
};

/** The meaning of each effect of the email machine. */
export const emailEffects: EffectMeanings<typeof emailMachine> = {
  transmit: { order: true },
  record: {
    fact: recorded.name,
    rows: ({ events }, { snapshot }) =>
      events.map(({ type, recipient, at, data }) => ({
        id: mintId('evt', timeOfEventId(snapshot.context as EmailContext, at)),
        type,
        recipient,
        occurred_at: storableMoment(at),
        data,
        ...clockOf(snapshot),
      })),
    also: [
      {
        fact: recordedOnClock.name,
        rows: (_, { snapshot }) => (clockOf(snapshot) ? [{ is_so: true }] : []),
      },
      {
        fact: renamed.name,
        rows: ({ events }) =>
          events.flatMap(({ type, recipient, at, data }) => {
            const id = type === 'sent' ? messageIdOfSes(data) : null;
            return id === null ? [] : [{ recipient, message_id: id, sent_at: storableMoment(at) }];
          }),
      },
    ],
  },
  note: {
    fact: 'noted',
    rows: ({ attempt, outcomes }, _actor, at) =>
      outcomes.map(({ recipient, outcome, data }) => ({
        attempt,
        recipient,
        outcome,
        at: storableMoment(at),
        data,
      })),
  },
  refund: {
    fact: givenBack.name,
    /**
     * A unit goes back to the period it was taken from, whenever that was: what is put off into the next
     * month ends there, although its campaign was cancelled in this one. A period that is over allows no
     * email, so that nothing becomes free by it.
     */
    rows: ({ acceptedAt }, { livemode }) => [{ period: periodOf(livemode, acceptedAt) }],
  },
  suppress: {
    fact: 'suppressed',
    rows: ({ recipients, reason }, _actor, at) =>
      recipients.map((recipient) => ({ recipient, reason, at: new Date(at).toISOString() })),
  },
};
