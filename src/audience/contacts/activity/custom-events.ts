import { type Static, Type } from '@sinclair/typebox';
import { idempotently, keyedBy } from '../../../http/request/idempotent.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import { mintId } from '../../../platform/db/ids.ts';
import { Failure, invalid, notFound } from '../../../platform/errors/failure.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';
import type { LocalCounter } from '../../../platform/time/window-counter.ts';
import type { StandingClock } from '../../../sending/emails/commands.ts';
import { clockOfRequest } from '../commands.ts';
import type { ContactCommands } from '../lists/contact-rows.ts';
import { findContactId } from '../lists/contact-rows.ts';
import { GivenPropertiesSchema, readProperties } from '../properties.ts';
import { isMistaken } from '../read-contact.ts';
import type { EventRecorder } from './event-recorder.ts';

/** The greatest age of a custom event. */
const OLDEST_MS = 365 * DAY_MS;
/** The most that it may be in the future: clocks differ. */
const CLOCKS_DIFFER_MS = 60_000;

/** The body of POST /v1/contacts/{contact}/events. */
export const NewCustomEvent = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$',
      description: 'A letter, then up to 99 letters, digits and any of `_.:-`.',
      examples: ['order.placed'],
    }),
    properties: Type.Optional(GivenPropertiesSchema),
    occurredAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Now unless stated; at most a year ago, and not in the future.',
      }),
    ),
  },
  { title: 'CreateCustomEvent' },
);

export type NewCustomEvent = Static<typeof NewCustomEvent>;

/** A custom event that was recorded. */
export const CustomEvent = Type.Object(
  {
    id: Type.String({ description: 'Its entry in the activity of the contact.' }),
    contactId: Type.String(),
    name: Type.String(),
    occurredAt: Type.String({ format: 'date-time' }),
  },
  { title: 'CustomEvent' },
);

export type CustomEventView = Static<typeof CustomEvent>;

/**
 * Custom events of one contact that an instance takes in a second; a client that tells more tells them in a
 * loop.
 */
export const MOST_EVENTS_A_SECOND = 20;

const TOO_MANY = new Failure(
  'RATE_LIMITED',
  `More than ${MOST_EVENTS_A_SECOND} events of this contact came within a second.`,
  { suggestion: 'Retry in a second, and tell what belongs together as one event.', retryAfterSeconds: 1 },
);

/** The services that recording custom events calls. */
export interface EventCommands extends ContactCommands {
  readonly eventRecorder: EventRecorder;
  /** Counts the events of each contact, second by second. */
  readonly eventCounter: Pick<LocalCounter, 'hit'>;
}

type EventCall = Call<{ readonly contact: string }, unknown, NewCustomEvent>;

/**
 * Records what a contact did somewhere else. Once answered it is stored, and flows that wait for it will see
 * it.
 */
export const recordCustomEvent = (
  commands: EventCommands,
  call: EventCall,
): Promise<CustomEventView | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), { run: () => record(commands, call) });

/** The test clock that a request names, or that of its contact. @throws UnavailableError */
async function clockOfEvent(
  commands: EventCommands,
  call: EventCall,
  contactId: string | null,
): Promise<StandingClock | Failure | null> {
  const named = await clockOfRequest(commands, call);
  const { livemode, workspaceId } = call.caller;
  if (named || livemode || contactId === null) return named;
  return (await commands.testClocks?.()?.ofContact(workspaceId, contactId)) ?? null;
}

async function record(commands: EventCommands, call: EventCall): Promise<CustomEventView | Failure> {
  const { caller, params, body } = call;
  const contactId = await findContactId(commands, caller, params.contact);
  const clock = await clockOfEvent(commands, call, contactId);
  if (clock instanceof Failure) return clock;
  const now = clock?.now ?? call.now;
  const at = body.occurredAt === undefined ? now : Date.parse(body.occurredAt);
  const properties = readProperties(body.properties, '/body/properties');
  const wrong = isMistaken(properties) ? [...properties] : [];
  if (at > now + CLOCKS_DIFFER_MS || at < now - OLDEST_MS)
    wrong.push({ path: '/body/occurredAt', message: 'Must lie within the past year.' });
  if (isMistaken(properties) || wrong.length > 0) return invalid(wrong);
  if (contactId === null) return notFound('contact');
  // The owner of the contact is known later: a request of another workspace must take none of its limit.
  if (commands.eventCounter.hit(`${caller.workspaceId} ${contactId}`).used > MOST_EVENTS_A_SECOND)
    return TOO_MANY;
  const view = {
    // By when it was recorded, where a test clock knows other times.
    id: mintId('act', clock ? call.now : at),
    contactId,
    name: body.name,
    occurredAt: new Date(at).toISOString(),
  };
  const isRecorded = await commands.eventRecorder.record({
    contactId,
    id: view.id,
    at: view.occurredAt,
    name: body.name,
    properties: properties.set,
    clockId: clock?.id ?? null,
    keyed: keyedBy(call),
    reply: JSON.stringify(view),
  });
  if (isRecorded && clock) await commands.testClocks?.()?.wake([clock.id]);
  return isRecorded ? view : notFound('contact');
}
