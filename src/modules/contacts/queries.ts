import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Principal } from '../../auth/principal.ts';
import { type Database, PREPARED } from '../../db/database.ts';
import { isId } from '../../db/ids.ts';
import { contacts } from '../../db/schema/audience.ts';
import { type Failure, notFound } from '../../http/failure.ts';
import type { Call } from '../../http/route.ts';
import { isProblem, parseAddress } from '../../mail/address.ts';
import { isoOrNull } from '../../time/clock.ts';
import { CONTACT_STATUSES, type ContactStatus, type ContactView } from './model.ts';
import { MOST_PROPERTIES, type PropertyValue } from './properties.ts';
import type { ContactInput } from './write.ts';

/** The services that reading contacts calls. */
export interface ContactReader {
  readonly database: Database;
}

/** An environment of a workspace. */
export type Scope = Pick<Principal, 'workspaceId' | 'livemode'>;

/** Restricts to one environment: everything outside does not exist for the caller. */
export const ownContacts = ({ workspaceId, livemode }: Scope): SQL =>
  sql`${contacts.workspaceId} = ${workspaceId} and ${contacts.livemode} = ${livemode}`;

const epoch = (moment: SQL) => sql<number | null>`(extract(epoch from ${moment}) * 1000)::float8`;

/** The columns of a contact as it is answered. */
export const contactColumns = {
  id: contacts.id,
  livemode: contacts.livemode,
  email: contacts.email,
  firstName: contacts.firstName,
  lastName: contacts.lastName,
  properties: contacts.properties,
  status: contacts.status,
  unsubscribedAt: contacts.unsubscribedAt,
  createdAt: contacts.createdAt,
  updatedAt: contacts.updatedAt,
  audienceIds: sql<string[]>`array(select m.audience_id from audience_members m
    where m.contact_id = ${contacts.id} and m.state = 'joined' order by 1)`,
  lastActivityAt: epoch(
    sql`(select a.at from contact_activity a where a.contact_id = ${contacts.id} order by a.id desc limit 1)`,
  ),
};

/** A row of those columns. */
export interface ContactRow {
  readonly id: string;
  readonly livemode: boolean;
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly properties: unknown;
  readonly status: string;
  readonly unsubscribedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly audienceIds: readonly string[];
  readonly lastActivityAt: number | null;
}

/** A contact as it is answered. */
export const contactOf = (row: ContactRow): ContactView => ({
  id: row.id,
  livemode: row.livemode,
  email: row.email,
  firstName: row.firstName,
  lastName: row.lastName,
  properties: row.properties as Record<string, PropertyValue>,
  status: row.status as ContactStatus,
  audienceIds: [...row.audienceIds],
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  unsubscribedAt: row.unsubscribedAt?.toISOString() ?? null,
  lastActivityAt: isoOrNull(row.lastActivityAt),
});

/** The one that a path names, by id or by address; null when the text can be neither. */
export function namedContact(text: string): SQL | null {
  if (isId('con', text)) return eq(contacts.id, text);
  const address = parseAddress(text);
  return isProblem(address) || address.name !== null ? null : eq(contacts.emailKey, address.key);
}

/** Reads a contact by its id or address; null when there is none. @throws Unavailable */
export async function findContact(
  { database }: ContactReader,
  scope: Scope,
  idOrEmail: string,
): Promise<ContactView | null> {
  const named = namedContact(idOrEmail);
  if (!named) return null;
  const [row] = await database.read(
    (orm) =>
      orm
        .select(contactColumns)
        .from(contacts)
        .where(and(ownContacts(scope), named)),
    PREPARED,
  );
  return row ? contactOf(row) : null;
}

/** Reads a contact, or answers 404. */
export const contactDetail = async (
  reader: ContactReader,
  { caller, params }: Call<{ readonly contact: string }>,
): Promise<ContactView | Failure> =>
  (await findContact(reader, caller, params.contact)) ?? notFound('contact');

const LADDER = `array[${CONTACT_STATUSES.map((status) => `'${status}'`).join(', ')}]`;

/** SQL of how strong a status is; null for the reason of a suppression that is none, such as `manual`. */
const strength = (status: string): string => `array_position(${LADDER}, ${status})`;

/**
 * SQL that takes live contacts down the ladder, never up. `gone` is a relation of workspace_id, email_key, reason and at. Rows are
 * locked in the order of their ids, as everywhere.
 */
export const contactsLeaveSql = (gone: string): string => `update contacts c
  set status = l.reason, unsubscribed_at = coalesce(c.unsubscribed_at, l.at), updated_at = l.at
  from (
    select c.workspace_id, c.id, g.reason, g.at from (
      select distinct on (workspace_id, email_key) workspace_id, email_key, reason, at from ${gone} g
      order by workspace_id, email_key, ${strength('reason')} desc nulls last
    ) g join contacts c on c.workspace_id = g.workspace_id and c.livemode and c.email_key = g.email_key
    where ${strength('g.reason')} > ${strength('c.status')}
    order by c.id for update of c
  ) l
  where c.workspace_id = l.workspace_id and c.livemode and c.id = l.id`;

/** A contact that a row of a file would change. */
export interface KnownContact {
  /** The place of the row. */
  readonly ord: number;
  /** Whether it would have too many properties. */
  readonly isFull: boolean;
}

const KNOWN = `select i.ord, (select count(*) from jsonb_object_keys(c.properties || i.properties)) > ${MOST_PROPERTIES} as "isFull"
from (
  select a.*, $1::text as workspace_id, $2::boolean as livemode
  from json_to_recordset($3::text::json) as a(ord integer, email_key text, properties jsonb) offset 0
) i join contacts c on c.workspace_id = i.workspace_id and c.livemode = i.livemode and c.email_key = i.email_key`;

/** Which of these are contacts already, each address at most once. @throws Unavailable */
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
