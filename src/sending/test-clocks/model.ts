import { type Static, Type } from '@sinclair/typebox';
import { createdQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { MOST_CONTACTS, MOST_EMAILS, MOST_RUNS } from './store.ts';

const Moment = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-12-01T09:00:00.000Z'] });

/** A test clock as it is answered. */
export const TestClock = Type.Object(
  {
    id: Type.String({ examples: ['clk_01m7xj1rx757g9bp0f4tggst'] }),
    name: Type.String(),
    status: literals(['ready', 'advancing'], {
      description: '`advancing` while the work that is due up to `advancingTo` is done; `ready` afterwards.',
    }),
    now: Moment('The time of the clock. While it advances, the time that it has reached.'),
    advancingTo: Type.Union([Moment('The target of the advance; null while it is ready.'), Type.Null()]),
    emails: Type.Integer({
      description: `Emails that it has had so far, of at most ${MOST_EMAILS.toLocaleString('en')}.`,
    }),
    contacts: Type.Integer({
      description: `Contacts that were created for it, of at most ${MOST_CONTACTS.toLocaleString('en')}.`,
    }),
    runs: Type.Integer({
      description: `Runs of flows that have begun on it, of at most ${MOST_RUNS.toLocaleString('en')}.`,
    }),
    runsRefused: Type.Integer({
      description:
        'Runs that a contact or a date would have begun, but that it refused because it has had the most.',
    }),
    createdAt: Moment('The time of its creation, in real time.'),
  },
  { title: 'TestClock' },
);

export type TestClock = Static<typeof TestClock>;

/** The answer to an advance. */
export const AdvancedTestClock = Type.Composite(
  [
    TestClock,
    Type.Object({
      ran: Type.Integer({
        description:
          'The number of things that happened in this advance: new events and states of emails, steps of runs, attempts of webhook deliveries.',
      }),
    }),
  ],
  { title: 'AdvancedTestClock' },
);

export type AdvancedTestClock = Static<typeof AdvancedTestClock>;

/** The body that makes one. */
export const NewTestClock = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', description: 'A name for it.' }),
    ),
    startAt: Type.Optional(
      Moment('The first time of the clock; the present by default. At most ten years from the present.'),
    ),
  },
  { title: 'CreateTestClock', additionalProperties: false },
);

export type NewTestClock = Static<typeof NewTestClock>;

/** The body that moves one. */
export const AdvanceTestClock = Type.Object(
  {
    to: Type.Optional(Moment('The target. Either this or `by`.')),
    by: Type.Optional(
      Type.Object(
        {
          amount: Type.Integer({ minimum: 1, maximum: 1_051_200 }),
          unit: literals(['minutes', 'hours', 'days', 'weeks']),
        },
        { additionalProperties: false, description: 'The distance to advance. Either this or `to`.' },
      ),
    ),
  },
  { title: 'AdvanceTestClock', additionalProperties: false },
);

export type AdvanceTestClock = Static<typeof AdvanceTestClock>;

export const TestClockQuery = Type.Object({ ...pageQuery, ...createdQuery });

export type TestClockQuery = Static<typeof TestClockQuery>;
