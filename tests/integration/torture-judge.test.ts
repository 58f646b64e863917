import { beforeEach, expect, test } from 'bun:test';
import type { EmailContext, EmailEvent } from '../../machines/email-context.ts';
import { type ExpectedOutcome, OUTCOMES } from '../../src/chaos/expected-outcome.ts';
import type { Invariant } from '../../src/chaos/invariants.ts';
import { judge } from '../../src/chaos/judge.ts';
import type { Taken } from '../../src/chaos/mail-sink.ts';
import { OutsideRecord, recipientsOf, type SentEmail, subjectOf } from '../../src/chaos/outside-record.ts';
import type { Performed } from '../../src/chaos/performed.ts';
import { mintId } from '../../src/db/ids.ts';
import { simulate } from '../../src/modules/emails/simulator/simulator.ts';
import { periodOf } from '../../src/modules/usage/queries.ts';
import { accepted, emailSpawn, engineOver, plainInput, postgresStore } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStore } from '../support/shared-store.ts';

// The judge of a torture, on a ledger in which everything is right and then one thing is not.

const TABLES = ['emails', 'email_messages', 'email_events', 'email_journal'] as const;

/** What was asked for, by its number; the last two came in one batch, and the live one is at the mail server. */
const ASKED: readonly (readonly ExpectedOutcome[])[] = [
  ...(Object.keys(OUTCOMES) as ExpectedOutcome[]).map((fate) => [fate]),
  ['taken'],
  ['complained', 'bounced'],
  ['opened', 'deferred'],
];
const [LIVE, MIXED, LAST] = [9, 10, 11];
const OPENED = ASKED.findIndex(([fate]) => fate === 'opened');
const ids: string[] = [];
const store = sharedStore(async () => {
  const made = await postgresStore();
  await live(made.database);
  for (const table of TABLES)
    await made.database.script(`create table kept_${table} as select * from ${table}`);
  return made;
});

beforeEach(async () => {
  for (const table of TABLES)
    await store.database.script(`truncate ${table}; insert into ${table} select * from kept_${table}`);
});

/** Lets the service's own engine live every email that was asked for to its end. */
async function live(database: Awaited<ReturnType<typeof postgresStore>>['database']): Promise<void> {
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
  for (const wish of record().wishes) {
    const recipients = recipientsOf(wish);
    const { livemode } = wish;
    const input = plainInput(now, {
      livemode,
      backoffMs: [0, 0],
      recipients: recipients.map(({ fate }) => ({ simulate: livemode ? null : fate })),
    });
    const birth = emailSpawn(input, { meter: { period: periodOf(livemode, now), ceiling: null } });
    const addresses = recipients.map(({ address }) => address);
    const columns = { recipients: addresses, recipient_keys: addresses, subject: subjectOf(wish) };
    await engine.spawn('email', { ...birth, columns: { ...birth.columns, ...columns } });
    ids.push(birth.id);
  }
  await eventually('all have ended', async () => {
    await engine.wakeDue();
    const rows = await database.query('select 1 from emails where wake_at is not null');
    return rows.length === 0 ? true : undefined;
  });
  await engine.stop();
}

/** A record of the wishes, none of them answered yet. */
function record(): OutsideRecord {
  const made = new OutsideRecord();
  for (const [number, fates] of ASKED.entries())
    made.wish({ fates, livemode: number === LIVE, inBatch: number >= MIXED, notBefore: null });
  return made;
}

/** What was seen from outside; a forgery changes it before it is judged. */
interface Forged {
  readonly record: OutsideRecord;
  readonly performed: Map<string, Performed>;
  readonly taken: Map<string, Taken>;
  /** What each wish was answered, by its number. */
  readonly answers: string[];
}

const idOf = (number: number): string => ids[number] as string;
const wishOf = (seen: Forged, number: number): SentEmail => seen.record.wishes[number] as SentEmail;
const addressOf = (number: number, index = 0): string =>
  recipientsOf(record().wishes[number] as SentEmail)[index]?.address as string;

async function judged(forge: (seen: Forged) => Promise<unknown> | unknown = () => {}) {
  const taken = new Map([[`${idOf(LIVE)} ${addressOf(LIVE)}`, { copies: 1, firstAt: 1 }]]);
  const seen: Forged = { record: record(), performed: new Map(), taken, answers: [...ids] };
  await forge(seen);
  for (const wish of seen.record.wishes) {
    const id = seen.answers[wish.number];
    if (id) seen.record.hear(wish, { what: 'accepted', id });
  }
  return await judge(store.url as string, { ...seen, received: null });
}

/** The promises that broke, but for what the audit finds: it does not know what was asked for. */
const brokenBy = async (forge: Parameters<typeof judged>[0]): Promise<readonly Invariant[]> =>
  [...(await judged(forge)).broken.keys()].filter((promise) => promise !== 'ledger').sort();

const change = (sql: string, parameters: readonly string[]) => store.database.query(sql, parameters);

/** The same email once more under another id, as a second acceptance would leave it. */
async function again(number: number): Promise<string> {
  const id = mintId('em', Date.now());
  const copies = [
    ['emails', 'id'],
    ['email_messages', 'id'],
    ['email_journal', 'actor_id'],
    ['email_events', 'email_id'],
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
      ['email_messages', 'id'],
      ['email_journal', 'actor_id'],
      ['email_events', 'email_id'],
    ].map(([table, column]) => change(`delete from ${table} where ${column} = $1`, [idOf(number)])),
  );

const unsay = (number: number, type: string, index = 0) =>
  change('delete from email_events where email_id = $1 and type = $2 and recipient = $3', [
    idOf(number),
    type,
    addressOf(number, index),
  ]);

/** Tells the first recipient's first event once more, as one of that type. */
const say = (number: number, type: string) =>
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
  expect(verdict.unanswered).toEqual({ wishes: 0, mayBeThere: 0 });
});

type Forgery = readonly [what: string, broken: readonly Invariant[], forge: Parameters<typeof judged>[0]];

test.each<Forgery>([
  ['a second email of one wish', ['wishTwice'], () => again(0)],
  [
    'a second email of a wish whose first try was stored and not answered',
    ['wishTwice'],
    async (seen) => {
      wishOf(seen, 0).mayBeThere = true;
      await again(0);
    },
  ],
  [
    'two emails of a wish that nobody answered',
    ['wishTwice'],
    async (seen) => {
      wishOf(seen, 0).mayBeThere = true;
      seen.answers[0] = '';
      await again(0);
    },
  ],
  [
    'ids that were swapped between two wishes',
    ['astray'],
    ({ answers }) => {
      [answers[0], answers[1]] = [idOf(1), idOf(0)];
    },
  ],
  [
    'one id for two wishes',
    ['astray'],
    ({ answers }) => {
      answers[1] = idOf(0);
    },
  ],
  [
    'a key with two answers',
    ['keyTwice', 'wishTwice'],
    async (seen) => {
      seen.record.hear(wishOf(seen, 0), { what: 'accepted', id: idOf(0) });
      seen.answers[0] = await again(0);
    },
  ],
  ['an entry of a batch that is not there', ['lost'], () => deleted(LAST)],
  [
    'an entry of a batch that was not answered',
    ['leftOut'],
    (seen) => seen.record.hear(wishOf(seen, LAST), { what: 'left out' }),
  ],
  [
    'an email that was refused',
    ['unexplained'],
    (seen) => {
      seen.answers[0] = '';
      seen.record.hear(wishOf(seen, 0), { what: 'refused' });
    },
  ],
  [
    'an email of which every connection was refused',
    ['unexplained'],
    (seen) => {
      seen.answers[0] = '';
      seen.record.hear(wishOf(seen, 0), { what: 'untouched' });
    },
  ],
  [
    'an email that nobody asked for',
    ['unexplained'],
    (seen) => {
      seen.answers[0] = '';
      return change(`update email_messages set subject = 'Hello' where id = $1`, [idOf(0)]);
    },
  ],
  ['an open that was lost', ['lostEvent'], () => unsay(OPENED, 'opened')],
  ['a complaint of one of two recipients that was lost', ['lostEvent'], () => unsay(MIXED, 'complained')],
  ['a bounce of one of two recipients that was lost', ['lostEvent'], () => unsay(MIXED, 'bounced', 1)],
  ['an open that nobody made', ['strangeEvent'], () => say(OPENED - 1, 'opened')],
  ['a delivery that is told twice', ['strangeEvent'], () => say(OPENED, 'delivered')],
  [
    'an event of somebody else',
    ['lostEvent', 'strangeEvent'],
    () =>
      change('update email_events set recipient = $2 where email_id = $1 and type = $3', [
        idOf(OPENED),
        addressOf(0),
        'opened',
      ]),
  ],
  [
    'an end of one recipient taken for that of both',
    ['wrongEnd'],
    () => change(`update emails set state = 'delivered' where id = $1`, [idOf(MIXED)]),
  ],
  [
    'a recipient who was served twice, beside one who was not',
    ['doubled'],
    ({ performed }) => performed.set(idOf(LAST), { firstBegun: 1, accepted: [1, 2] }),
  ],
  [
    'a live message that never arrived',
    ['notThere'],
    ({ taken }) => taken.delete(`${idOf(LIVE)} ${addressOf(LIVE)}`),
  ],
  [
    'a live message that arrived at another address',
    ['notThere', 'strange'],
    ({ taken }) => {
      taken.clear();
      taken.set(`${idOf(LIVE)} ${addressOf(0)}`, { copies: 1, firstAt: 1 });
    },
  ],
])('sees %s', async (_, broken, forge) => {
  expect(await brokenBy(forge)).toEqual([...broken].sort());
});

test('the torture judge accepts two recipients served by an attempt each', async () => {
  const serve = ({ performed }: Forged) => performed.set(idOf(LAST), { firstBegun: 1, accepted: [1, 1] });
  expect(await brokenBy(serve)).toEqual([]);
});

test('the torture judge allows one email of an unanswered request, and counts those that may be stored', async () => {
  const { broken, unanswered } = await judged(async (seen) => {
    for (const number of [0, 1, 2]) seen.answers[number] = '';
    for (const number of [0, 1]) seen.record.hear(wishOf(seen, number), { what: 'unknown' });
    await Promise.all([deleted(1), deleted(2)]);
  });
  expect(broken.has('unexplained')).toBeFalse();
  expect(unanswered).toEqual({ wishes: 3, mayBeThere: 2 });
});
