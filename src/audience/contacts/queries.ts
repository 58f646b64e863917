import type { Call } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Failure, notFound } from '../../platform/errors/failure.ts';
import { contactOfSql } from '../../sending/suppressions/queries.ts';
import { type ContactReader, findContact, type Scope } from './lists/contact-rows.ts';
import type { ContactView } from './model.ts';
import { MOST_PROPERTIES } from './properties.ts';
import type { ContactInput } from './write.ts';

// Other modules reach contacts through this file and commands.ts alone.
// biome-ignore lint/performance/noBarrelFile: a few names, beside the queries themselves.
export { fieldsSql, nameOf } from './field-columns.ts';
export {
  contactJson,
  contactOf,
  findContact,
  ownContacts,
  type Scope,
} from './lists/contact-rows.ts';
export { type AudienceMatch, listContacts } from './lists/list.ts';
export { agreedAt, Consent, Contact, type ContactView, isStaleSql, momentProblems } from './model.ts';
export { readProperties } from './properties.ts';

/** Reads a contact, or answers 404. */
export const contactDetail = async (
  reader: ContactReader,
  { caller, params }: Call<{ readonly contact: string }>,
): Promise<ContactView | Failure> =>
  (await findContact(reader, caller, params.contact)) ?? notFound('contact');

/**
 * SQL that joins rows with their existing contacts and locks these until the statement has ended: forgetting
 * the contact waits, and finds the rows that were written for it. `of`: SQL of its workspace, its environment
 * and its id.
 */
export const keptContactSql = (of: readonly [workspace: string, livemode: string, id: string]): string =>
  `cross join lateral (
    select from contacts c where c.workspace_id = ${of[0]} and c.livemode = ${of[1]} and c.id = ${of[2]} for key share
  ) kept_contact`;

/** SQL of whether there are contacts where a topic `of` is. */
export const hasContactsSql = (of: string): string =>
  `exists (select from contacts c where c.workspace_id = ${of}.workspace_id and c.livemode = ${of}.livemode)`;

/** A contact that a row of a file would change. */
export interface KnownContact {
  /** The place of the row. */
  readonly ord: number;
  /** True when it would have too many properties. */
  readonly isFull: boolean;
  readonly status: string;
}

const KNOWN = `select i.ord, (select count(*) from jsonb_object_keys(c.properties || i.properties)) > ${MOST_PROPERTIES} as "isFull", c.status
from (
  select a.*, $1::text as workspace_id, $2::boolean as livemode, found.id as contact_id
  from json_to_recordset($3::text::json) as a(ord integer, email_key text, properties jsonb)
    cross join lateral ${contactOfSql({ workspaceId: '$1::text', livemode: '$2::boolean', key: 'a.email_key' })} found offset 0
) i join contacts c on c.workspace_id = i.workspace_id and c.livemode = i.livemode and c.id = i.contact_id
  and c.email_key = i.email_key`;

/** Which of these are contacts already, each address at most once. @throws UnavailableError */
export const knownContacts = (
  database: Database,
  { workspaceId, livemode }: Scope,
  contacts: readonly Pick<ContactInput, 'ord' | 'email_key' | 'properties'>[],
): Promise<readonly KnownContact[]> =>
  database.query<KnownContact>(KNOWN, [
    workspaceId,
    livemode,
    JSON.stringify(contacts.map(({ ord, email_key, properties }) => ({ ord, email_key, properties }))),
  ]);
