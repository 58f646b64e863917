import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Principal } from '../../auth/principal.ts';
import type { Signer } from '../../crypto/signer.ts';
import { type Database, PREPARED } from '../../db/database.ts';
import { isId } from '../../db/ids.ts';
import { contacts } from '../../db/schema/audience.ts';
import { isProblem, parseAddress } from '../../mail/address.ts';
import { isoOrNull } from '../../time/clock.ts';
import type { ContactStatus, ContactView } from './model.ts';
import type { PropertyValue } from './properties.ts';

/** The services that reading contacts calls. */
export interface ContactReader {
  readonly database: Database;
}

/** The services that changing contacts calls. */
export interface ContactCommands {
  readonly database: Database;
  readonly signer: Signer;
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
    sql`(select a.at from contact_activity a where a.contact_id = ${contacts.id} and not a.by_machine
      order by a.id desc limit 1)`,
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
