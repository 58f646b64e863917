import { type SQL, sql } from 'drizzle-orm';
import { eventTypesWith } from '../../../machines/email/event-traits.ts';
import { contacts } from '../../platform/db/schema/contacts.ts';
import { anyOf, type Filter, Problems, type Source } from '../../platform/filters/condition.ts';
import { dateField } from '../../platform/filters/date-field.ts';
import type { Bind, Field, FieldFamily, Fields } from '../../platform/filters/fields.ts';
import { idSetField, presence, textField } from '../../platform/filters/kinds.ts';
import { propertyFamily } from '../../platform/filters/properties.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { storedPart } from '../../platform/text/address-part.ts';
import { type ContactTexts, eachField } from '../../platform/text/contact-fields.ts';

/** An entry of a contact's activity, as filters see it. */
export interface FilteredActivity {
  readonly type: string;
  /** The name of a custom event. */
  readonly subject: string | null;
  readonly campaignId: string | null;
  readonly byMachine: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A contact in memory, with everything that a filter can ask of it. Instants are epoch milliseconds. */
export interface FilteredContact extends ContactTexts {
  /** `Address.key` */
  readonly emailKey: string;
  readonly status: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly unsubscribedAt: number | null;
  readonly properties: Readonly<Record<string, unknown>>;
  /** The static audiences that it has joined. */
  readonly audiences: readonly string[];
  readonly activity: readonly FilteredActivity[];
  /** The properties of the event in question, where a family of fields has them. */
  readonly event?: Readonly<Record<string, unknown>>;
}

/** The filters of dynamic audiences by their ids, for those that a filter names. */
export type DynamicAudiences = ReadonlyMap<string, Filter<FilteredContact>>;

/** All that can be asked of a contact: in SQL of a row of `contacts`, in memory of a `FilteredContact`. */
export const contactFields = (
  dynamic: DynamicAudiences = new Map(),
  further: readonly FieldFamily<FilteredContact>[] = [],
): Fields<FilteredContact> => ({
  named: {
    email: emailField,
    ...eachField((name) => textField({ sql: sql`${contacts[name]}`, read: (contact) => contact[name] })),
    status: choiceField({ sql: sql`${contacts.status}`, read: ({ status }) => status }),
    createdAt: dateField({ sql: sql`${contacts.createdAt}`, read: ({ createdAt }) => createdAt }),
    updatedAt: dateField({ sql: sql`${contacts.updatedAt}`, read: ({ updatedAt }) => updatedAt }),
    unsubscribedAt: dateField({
      sql: sql`${contacts.unsubscribedAt}`,
      read: ({ unsubscribedAt }) => unsubscribedAt,
    }),
    // An entry that a filter caused is no activity: else joining an audience of inactive people would end the
    // inactivity.
    lastActivityAt: dateField(latest(sql`not a.by_machine`, ({ byMachine }) => !byMachine)),
    audiences: audiencesField(dynamic),
    ...Object.fromEntries(
      [...eventTypesWith('isFilter'), 'replied'].map(
        (type) => [`activity.${type}`, emailActivity(type)] as const,
      ),
    ),
  },
  families: [
    propertyFamily('properties.', {
      sql: sql`${contacts.properties}`,
      read: ({ properties }) => properties,
    }),
    customEvents,
    ...further,
  ],
});

const choiceField = (source: Source<FilteredContact, string>): Field<FilteredContact> => {
  const { eq, neq, in: isIn } = textField(source);
  return { eq, neq, in: isIn };
};

/** An address in the form that addresses are compared by; other texts in lower case. */
function addressKey(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addressKey);
  if (typeof value !== 'string') return value;
  const read = parseAddress(value);
  return isProblem(read) ? value.toLowerCase() : read.key;
}

/**
 * A part of an address as it is written, and with the whole labels of its host in ASCII, the form that
 * addresses are stored in.
 */
const partOfAddress =
  (bindPart: Bind<FilteredContact>): Bind<FilteredContact> =>
  (value) => {
    const written = bindPart(value);
    const stored = typeof value === 'string' ? storedPart(value) : null;
    if (stored === null || written instanceof Problems) return written;
    const inAscii = bindPart(stored);
    return inAscii instanceof Problems ? written : anyOf([written, inAscii]);
  };

const emailField = ((): Field<FilteredContact> => {
  const field = textField<FilteredContact>({
    sql: sql`${contacts.emailKey}`,
    read: ({ emailKey }) => emailKey,
  });
  return {
    ...field,
    eq: (value) => field.eq(addressKey(value)),
    neq: (value) => field.neq(addressKey(value)),
    in: (value) => field.in(addressKey(value)),
    contains: partOfAddress(field.contains),
    startsWith: partOfAddress(field.startsWith),
    endsWith: partOfAddress(field.endsWith),
  };
})();

/** The audiences of a contact: static ones by their members, dynamic ones by their filters. */
const audiencesField = (dynamic: DynamicAudiences): Field<FilteredContact> =>
  idSetField<FilteredContact>({
    sql: (ids, now) => {
      const members = sql`exists (select from audience_members m where m.contact_id = ${contacts.id}
        and m.state = 'joined' and m.audience_id = any(${sql.param(ids)}::text[]))`;
      const filters = ids.flatMap((id) => dynamic.get(id)?.sql(now) ?? []);
      return sql`(${sql.join([members, ...filters.map((each) => sql`(${each}) is true`)], sql` or `)})`;
    },
    has: (contact, ids, now) =>
      ids.some((id) => contact.audiences.includes(id) || dynamic.get(id)?.matches(contact, now) === true),
  });

/** The latest entry of a kind, as an instant. */
function latest(
  condition: SQL,
  is: (activity: FilteredActivity) => boolean,
): Source<FilteredContact, number> {
  return {
    sql: sql`(select max(a.at) from contact_activity a where a.contact_id = ${contacts.id} and ${condition})`,
    read: ({ activity }) =>
      activity.filter(is).reduce<number | null>((last, { at }) => Math.max(last ?? at, at), null),
  };
}

/** Periods and dates ask of the last time. */
function lastTime(source: Source<FilteredContact, number>): Field<FilteredContact> {
  const { before, after, withinLast, olderThan } = dateField(source);
  return { before, after, withinLast, olderThan, ...presence(source) };
}

/** Opens and clicks by people; those by programs do not count. Ids are those of campaigns. */
function emailActivity(type: string): Field<FilteredContact> {
  const condition = sql`a.type = ${sql.raw(`'${type}'`)} and not a.by_machine`;
  const is = (activity: FilteredActivity): boolean => activity.type === type && !activity.byMachine;
  return {
    ...idSetField<FilteredContact>({
      sql: (ids) => sql`exists (select from contact_activity a where a.contact_id = ${contacts.id}
        and ${condition} and a.campaign_id = any(${sql.param(ids)}::text[]))`,
      has: ({ activity }, ids) =>
        activity.some((one) => is(one) && one.campaignId !== null && ids.includes(one.campaignId)),
    }),
    ...lastTime(latest(condition, is)),
  };
}

const EVENT_NAME = /^[A-Za-z][A-Za-z0-9_.:-]{0,99}$/;

const customEvents: FieldFamily<FilteredContact> = {
  prefix: 'activity.event:',
  rest: '<name>',
  field: (name) =>
    EVENT_NAME.test(name)
      ? lastTime(
          latest(
            sql`a.type = 'event' and a.subject = ${name}::text`,
            ({ type, subject }) => type === 'event' && subject === name,
          ),
        )
      : null,
};
