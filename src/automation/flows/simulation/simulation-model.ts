import { type Static, Type } from '@sinclair/typebox';
import { literals } from '../../../http/request/schema.ts';
import { eachField } from '../../../platform/text/contact-fields.ts';
import { EVENT_NAME } from '../definition/step-configs.ts';

/** The most events of a simulation, and the most steps that it walks. */
export const MOST_EVENTS = 100;
export const MOST_WALKED = 200;
/**
 * The most mails that one simulation renders, and all of them together in characters: one may have a million.
 */
export const MOST_MAILS = 50;
export const MOST_MAIL_LENGTH = 8_000_000;
/** The earliest moment that a simulation knows. */
export const EARLIEST = Date.UTC(2000, 0);
/** The longest time that one takes; a request is answered within eight seconds. */
export const LONGEST_WALK_MS = 5_000;

const TextOrNull = Type.Union([Type.String(), Type.Null()]);
const Dictionary = Type.Unsafe<Record<string, unknown>>(
  Type.Object({}, { additionalProperties: Type.Unknown() }),
);

const SimulatedContact = Type.Object(
  {
    id: Type.Optional(Type.String({ maxLength: 40 })),
    email: Type.Optional(Type.String({ maxLength: 320 })),
    ...eachField(() => Type.Optional(TextOrNull)),
    properties: Type.Optional(Dictionary),
  },
  {
    description:
      'The id of an existing contact, which needs `contacts:read`, or the members of an invented one.',
  },
);
/** The contact of a simulation. */
export type SimulatedContact = Static<typeof SimulatedContact>;

/** The body of POST /v1/flows/{id}/simulate. */
export const SimulateBody = Type.Object(
  {
    contact: SimulatedContact,
    events: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ pattern: EVENT_NAME }),
          properties: Type.Optional(Dictionary),
          after: Type.Object({
            amount: Type.Integer({ minimum: 0, maximum: 600_000 }),
            unit: literals(['minutes', 'hours', 'days', 'weeks']),
          }),
        }),
        {
          maxItems: MOST_EVENTS,
          description:
            'The activity of the contact, with times from the start. The first that matches the trigger begins the run.',
        },
      ),
    ),
    startAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'The start, now by default. It and the events must be from 2000 to 2099.',
      }),
    ),
  },
  { title: 'SimulateFlow' },
);
export type SimulateBody = Static<typeof SimulateBody>;

const Mail = Type.Object({ subject: TextOrNull, html: TextOrNull, text: TextOrNull });

/** The way that a contact would take. */
export const Simulation = Type.Object(
  {
    path: Type.Array(
      Type.Object({
        step: Type.String(),
        at: Type.String({ format: 'date-time' }),
        outcome: Type.String(),
        email: Type.Union([Mail, Type.Null()], {
          description: 'The email that would be sent; null for a step that sends none.',
        }),
      }),
    ),
    endedAs: literals(['completed', 'exited', 'failed', 'notStarted', 'unfinished'], {
      description: `\`notStarted\`: the filter of the trigger does not match. \`unfinished\`: after ${MOST_WALKED} steps, ${MOST_MAILS} mails, ${MOST_MAIL_LENGTH / 1e6} million characters of mails or ${LONGEST_WALK_MS / 1_000} seconds the simulation stops.`,
    }),
    endsAt: Type.String({ format: 'date-time' }),
  },
  { title: 'FlowSimulation' },
);
export type SimulationView = Static<typeof Simulation>;
