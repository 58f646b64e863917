import { desc, eq } from 'drizzle-orm';
import type { FilteredContact } from '../../../audience/audiences/queries.ts';
import { type ContactView, findContact, readProperties } from '../../../audience/contacts/queries.ts';
import { lackOf, type Principal } from '../../../http/auth/principal.ts';
import type { Database } from '../../../platform/db/database.ts';
import { contactActivity } from '../../../platform/db/schema/contacts.ts';
import { type Failure, invalid, invalidAt, notFound } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { eachField, fieldsOf } from '../../../platform/text/contact-fields.ts';
import type { SimulatedContact } from './simulation-model.ts';

/** A contact that only a simulation changes. */
export interface VirtualContact extends FilteredContact {
  readonly email: string;
}

/** Entries of the activity that a simulation knows. */
const REMEMBERED = 1_000;

/**
 * The contact that a simulation begins with: one that is there, or one that is made up. @throws
 * UnavailableError
 */
export async function virtualContact(
  database: Database,
  caller: Principal,
  asked: SimulatedContact,
  now: number,
): Promise<VirtualContact | Failure> {
  if (asked.id !== undefined) {
    if (Object.keys(asked).length > 1)
      return invalidAt('/body/contact', 'Send either the id of a contact or the members of an invented one.');
    const refusal = lackOf('contacts:read', caller);
    if (refusal) return refusal;
    const found = await findContact({ database }, caller, asked.id);
    return found ? copyOf(database, found) : notFound('contact');
  }
  const address = parseAddress(asked.email ?? '');
  if (isProblem(address)) return invalidAt('/body/contact/email', address.problem);
  const properties = readProperties(asked.properties, '/body/contact/properties');
  if (!('set' in properties)) return invalid(properties);
  return {
    email: address.address,
    emailKey: address.key,
    status: 'subscribed',
    ...eachField((name) => asked[name] ?? null),
    createdAt: now,
    updatedAt: now,
    unsubscribedAt: null,
    audiences: [],
    activity: [],
    properties: properties.set,
  };
}

async function copyOf(database: Database, contact: ContactView): Promise<VirtualContact> {
  const { email, status, properties, audienceIds } = contact;
  const address = parseAddress(email);
  const { type, subject, campaignId, byMachine, at } = contactActivity;
  const entries = await database.read((orm) =>
    orm
      .select({ type, subject, campaignId, byMachine, at })
      .from(contactActivity)
      .where(eq(contactActivity.contactId, contact.id))
      .orderBy(desc(contactActivity.id))
      .limit(REMEMBERED),
  );
  const activity = entries.map((entry) => ({ ...entry, at: entry.at.getTime() }));
  return {
    email,
    ...fieldsOf(contact),
    status,
    properties,
    activity,
    emailKey: isProblem(address) ? email : address.key,
    audiences: audienceIds,
    createdAt: Date.parse(contact.createdAt),
    updatedAt: Date.parse(contact.updatedAt),
    unsubscribedAt: contact.unsubscribedAt === null ? null : Date.parse(contact.unsubscribedAt),
  };
}
