import { type Static, Type } from '@sinclair/typebox';
import { mintId } from '../../db/ids.ts';
import { keepReplySql, replyParameters } from '../../db/stored-replies.ts';
import { type Failure, invalid, notFound } from '../../http/failure.ts';
import { idempotently, keyedBy } from '../../http/idempotent.ts';
import type { Call, Replay } from '../../http/route.ts';
import { DAY_MS } from '../../time/clock.ts';
import type { ContactCommands } from './contact-rows.ts';
import { findContact } from './contact-rows.ts';
import { GivenPropertiesSchema, readProperties } from './properties.ts';
import { isMistaken } from './read-contact.ts';

/** How far a custom event may lie back. */
const OLDEST_MS = 365 * DAY_MS;
/** How far it may lie ahead: clocks differ. */
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

/** The type of that body. */
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

/** The type of it. */
export type CustomEventView = Static<typeof CustomEvent>;

/** The contact is looked for once more, since it may have been forgotten in between. */
const RECORD = `with recorded as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data)
  select c.id, $4, c.livemode, 'event', $5::timestamptz, $6, $7::text::json from contacts c
  where c.workspace_id = $1 and c.livemode = $2::boolean and c.id = $3 for key share of c
  returning id
), kept as (
  ${keepReplySql({ from: 'recorded', reply: '$8::text', first: 9 })}
)
select id from recorded`;

type EventCall = Call<{ readonly contact: string }, unknown, NewCustomEvent>;

/** Records what a contact did somewhere else. Once answered it is stored, and flows that wait for it will see it. */
export async function recordCustomEvent(
  commands: ContactCommands,
  call: EventCall,
): Promise<CustomEventView | Failure | Replay> {
  const { caller, params, body, now } = call;
  const at = body.occurredAt === undefined ? now : Date.parse(body.occurredAt);
  const properties = readProperties(body.properties, '/body/properties');
  const wrong = isMistaken(properties) ? [...properties] : [];
  if (at > now + CLOCKS_DIFFER_MS || at < now - OLDEST_MS)
    wrong.push({ path: '/body/occurredAt', message: 'Must lie within the past year.' });
  if (isMistaken(properties) || wrong.length > 0) return invalid(wrong);
  return idempotently(commands.database, keyedBy(call), {
    run: async () => {
      const contact = await findContact(commands, caller, params.contact);
      if (!contact) return notFound('contact');
      const occurredAt = new Date(at).toISOString();
      const view = { id: mintId('act', at), contactId: contact.id, name: body.name, occurredAt };
      const rows = await commands.database.query(RECORD, [
        ...[caller.workspaceId, caller.livemode, contact.id, view.id, occurredAt, body.name],
        ...[JSON.stringify(properties.set), JSON.stringify(view)],
        ...replyParameters(keyedBy(call), 202),
      ]);
      return rows.length > 0 ? view : notFound('contact');
    },
  });
}
