import { beforeEach, expect, test } from 'bun:test';
import type { EmailContext, EmailEvent } from '../../machines/email/context.ts';
import { type ExpectedOutcome, OUTCOMES } from '../../src/ops/torture/judge/expected-outcome.ts';
import { FlowRecord } from '../../src/ops/torture/judge/flow-record.ts';
import type { Invariant } from '../../src/ops/torture/judge/invariants.ts';
import { judge } from '../../src/ops/torture/judge/judge.ts';
import {
  OutsideRecord,
  recipientsOf,
  type SentEmail,
  subjectOf,
} from '../../src/ops/torture/judge/outside-record.ts';
import type { PerformedAttempts } from '../../src/ops/torture/judge/performed.ts';
import type { ReceivedCopies } from '../../src/ops/torture/mail-sink.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { periodOf } from '../../src/platform/time/clock.ts';
import { simulate } from '../../src/sending/emails/simulator/simulator.ts';
import { accepted, emailSpawn, engineOver, plainInput, postgresStore } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStore } from '../support/shared-store.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';

// The judge of a chaos run: it accepts a correct database, and notices each single fault that is forged into
// it.

const TABLES = ['emails', 'email_turns'] as const;

/** The sent emails, by number; the last two came in one batch, and the live one is at the mail server. */
const ASKED: readonly (readonly ExpectedOutcome[])[] = [
  ...(Object.keys(OUTCOMES) as ExpectedOutcome[]).map((outcome) => [outcome]),
  ['taken'],
  ['complained', 'bounced'],
  ['opened', 'deferred'],
];
const [LIVE, MIXED, LAST] = [9, 10, 11];
const OPENED = ASKED.findIndex(([outcome]) => outcome === 'opened');
const ids: string[] = [];
const store = sharedStore(async () => {
  const made = await postgresStore();
  await made.database.script(EDITABLE_VIEWS);
  await settle(made.database);
  for (const table of TABLES)
    await made.database.script(`create table kept_${table} as select * from ${table}`);
  return made;
});

beforeEach(async () => {
  for (const table of TABLES)
    await store.database.script(`truncate ${table}; insert into ${table} select * from kept_${table}`);
});

/** Lets the service's own engine bring every sent email to its final state. */
async function settle(database: Awaited<ReturnType<typeof postgresStore>>['database']): Promise<void> {
  const engine = engineOver(database, {
    performer: {
      slots: 100,
      backlog: 0,
      perform: ({ actor }) =>
        actor.livemode
          ? [
              { type: 'attempt.begun', at: Date.now(), attempt: 1, by: 'me' } as EmailEvent,
              Object.assign(accepted(Date.now()), { by: 'me' }),
            ]
          : simulate(actor.snapshot.context as EmailContext, '<m@test>', Date.now()),
    },
  });
  const now = Date.now();
  for (const email of record().emails) {
    const recipients = recipientsOf(email);
    const { livemode } = email;
    const input = plainInput(now, {
      livemode,
      backoffMs: [0, 0],
      recipients: recipients.map(({ outcome }) => ({ simulate: livemode ? null : outcome })),
    });
    const request = emailSpawn(input, { meter: { period: periodOf(livemode, now), quota: null } });
    const addresses = recipients.map(({ address }) => address);
    const columns = { recipients: addresses, recipient_keys: addresses, subject: subjectOf(email) };
    await engine.spawn('email', { ...request, columns: { ...request.columns, ...columns } });
    ids.push(request.id);
  }
  await eventually('all have ended', async () => {
    await engine.wakeDue();
    const rows = await database.query('select 1 from emails_now where wake_at is not null');
    return rows.length === 0 ? true : undefined;
  });
  await engine.stop();
}

/** A record of the sent emails, before any answer. */
function record(): OutsideRecord {
  const made = new OutsideRecord();
  for (const [number, outcomes] of ASKED.entries())
    made.ask({ outcomes, livemode: number === LIVE, inBatch: number >= MIXED, notBefore: null });
  return made;
}

/** The records from outside; a forgery changes them before they are judged. */
interface Forged {
  readonly record: OutsideRecord;
  readonly performed: Map<string, PerformedAttempts>;
  readonly taken: Map<string, ReceivedCopies>;
  /** The answered id of each email, by its number. */
  readonly answers: string[];
}

const idOf = (number: number): string => ids[number] as string;
const sentEmailOf = (seen: Forged, number: number): SentEmail => seen.record.emails[number] as SentEmail;
const addressOf = (number: number, index = 0): string =>
  recipientsOf(record().emails[number] as SentEmail)[index]?.address as string;

async function judged(forge: (seen: Forged) => Promise<unknown> | unknown = () => {}) {
  const taken = new Map([[`${idOf(LIVE)} ${addressOf(LIVE)}`, { copies: 1, firstAt: 1 }]]);
  const seen: Forged = { record: record(), performed: new Map(), taken, answers: [...ids] };
  await forge(seen);
  for (const email of seen.record.emails) {
    const id = seen.answers[email.number];
    if (id) seen.record.note(email, { what: 'accepted', id });
  }
  return await judge(
    { url: store.url as string, dataDir: null },
    {
      ...seen,
      flowRecord: new FlowRecord(),
      campaignRecord: null,
      handed: null,
      received: null,
    },
  );
}

/** The violated invariants, without those of the audit, which does not know what was sent. */
const violatedBy = async (forge: Parameters<typeof judged>[0]): Promise<readonly Invariant[]> =>
  [...(await judged(forge)).violated.keys()].filter((invariant) => invariant !== 'ledger').sort();

const change = (sql: string, parameters: readonly string[]) => store.database.query(sql, parameters);

/** Copies an email under another id, as a second acceptance would. */
async function again(number: number): Promise<string> {
  const id = mintId('em', Date.now());
  const copies = [
    ['emails', 'id'],
    ['email_turns', 'email_id'],
  ] as const;
  for (const [table, column] of copies)
    await store.database.script(`create temporary table forged as select * from ${table} where ${column} = '${idOf(number)}';
      update forged set ${column} = '${id}'; insert into ${table} select * from forged; drop table forged`);
  return id;
}

const deleted = (number: number) =>
  Promise.all(
    [
      ['emails', 'id'],
      ['email_turns', 'email_id'],
    ].map(([table, column]) => change(`delete from ${table} where ${column} = $1`, [idOf(number)])),
  );

const removeEvent = (number: number, type: string, index = 0) =>
  change('delete from email_events where email_id = $1 and type = $2 and recipient = $3', [
    idOf(number),
    type,
    addressOf(number, index),
  ]);

/** Records the first recipient's first event again, with another type. */
const repeatEvent = (number: number, type: string) =>
  change(
    `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
      select email_id, $2, workspace_id, livemode, $3, recipient, occurred_at, data
      from email_events where email_id = $1 order by id limit 1`,
    [idOf(number), mintId('evt', Date.now()), type],
  );

test('the torture judge finds nothing wrong in a clean run, having counted everything', async () => {
  const verdict = await judged();
  expect(verdict.examples).toEqual([]);
  expect(verdict).toMatchObject({ acknowledged: 12, emails: 12, inBatches: 2, toTwo: 2 });
  expect(verdict.unanswered).toEqual({ emails: 0, mayBeThere: 0 });
});

type Forgery = readonly [what: string, violated: readonly Invariant[], forge: Parameters<typeof judged>[0]];

test.each<Forgery>([
  ['a second copy of an email', ['storedTwice'], () => again(0)],
  [
    'a second copy of an email whose first try was stored and not answered',
    ['storedTwice'],
    async (seen) => {
      sentEmailOf(seen, 0).mayBeThere = true;
      await again(0);
    },
  ],
  [
    'two copies of an email that was never answered',
    ['storedTwice'],
    async (seen) => {
      sentEmailOf(seen, 0).mayBeThere = true;
      seen.answers[0] = '';
      await again(0);
    },
  ],
  [
    'ids that were swapped between two emails',
    ['wrongId'],
    ({ answers }) => {
      [answers[0], answers[1]] = [idOf(1), idOf(0)];
    },
  ],
  [
    'one id for two emails',
    ['wrongId'],
    ({ answers }) => {
      answers[1] = idOf(0);
    },
  ],
  [
    'a key with two answers',
    ['keyTwice', 'storedTwice'],
    async (seen) => {
      seen.record.note(sentEmailOf(seen, 0), { what: 'accepted', id: idOf(0) });
      seen.answers[0] = await again(0);
    },
  ],
  ['an entry of a batch that is not there', ['lost'], () => deleted(LAST)],
  [
    'an entry of a batch that was not answered',
    ['leftOut'],
    (seen) => seen.record.note(sentEmailOf(seen, LAST), { what: 'left out' }),
  ],
  [
    'an email that was refused',
    ['unexplained'],
    (seen) => {
      seen.answers[0] = '';
      seen.record.note(sentEmailOf(seen, 0), { what: 'refused' });
    },
  ],
  [
    'an email of which every connection was refused',
    ['unexplained'],
    (seen) => {
      seen.answers[0] = '';
      seen.record.note(sentEmailOf(seen, 0), { what: 'untouched' });
    },
  ],
  [
    'an email that was never sent',
    ['unexplained'],
    (seen) => {
      seen.answers[0] = '';
      return change(`update emails set subject = 'Hello' where id = $1`, [idOf(0)]);
    },
  ],
  ['an open that was lost', ['lostEvent'], () => removeEvent(OPENED, 'opened')],
  [
    'a complaint of one of two recipients that was lost',
    ['lostEvent'],
    () => removeEvent(MIXED, 'complained'),
  ],
  ['a bounce of one of two recipients that was lost', ['lostEvent'], () => removeEvent(MIXED, 'bounced', 1)],
  ['an open that was not expected', ['unexpectedEvent'], () => repeatEvent(OPENED - 1, 'opened')],
  ['a delivery that is recorded twice', ['unexpectedEvent'], () => repeatEvent(OPENED, 'delivered')],
  [
    'an event of another recipient',
    ['lostEvent', 'unexpectedEvent'],
    () =>
      change('update email_events set recipient = $2 where email_id = $1 and type = $3', [
        idOf(OPENED),
        addressOf(0),
        'opened',
      ]),
  ],
  [
    'a final state that follows from only one of two recipients',
    ['wrongEnd'],
    () => change(`update emails_now set state = 'delivered' where id = $1`, [idOf(MIXED)]),
  ],
  [
    'a recipient who was served twice, beside one who was not',
    ['doubled'],
    ({ performed }) => performed.set(idOf(LAST), { firstBegun: 1, accepted: [1, 2] }),
  ],
  [
    'a live message that never arrived',
    ['missingMessage'],
    ({ taken }) => taken.delete(`${idOf(LIVE)} ${addressOf(LIVE)}`),
  ],
  [
    'a live message that arrived at another address',
    ['missingMessage', 'unknownMessage'],
    ({ taken }) => {
      taken.clear();
      taken.set(`${idOf(LIVE)} ${addressOf(0)}`, { copies: 1, firstAt: 1 });
    },
  ],
])('the judge notices %s', async (_, violated, forge) => {
  expect(await violatedBy(forge)).toEqual([...violated].sort());
});

test('the torture judge accepts two recipients served by an attempt each', async () => {
  const serve = ({ performed }: Forged) => performed.set(idOf(LAST), { firstBegun: 1, accepted: [1, 1] });
  expect(await violatedBy(serve)).toEqual([]);
});

test('the torture judge allows one email of an unanswered request, and counts those that may be stored', async () => {
  const { violated, unanswered } = await judged(async (seen) => {
    for (const number of [0, 1, 2]) seen.answers[number] = '';
    for (const number of [0, 1]) seen.record.note(sentEmailOf(seen, number), { what: 'unknown' });
    await Promise.all([deleted(1), deleted(2)]);
  });
  expect(violated.has('unexplained')).toBeFalse();
  expect(unanswered).toEqual({ emails: 3, mayBeThere: 2 });
});
