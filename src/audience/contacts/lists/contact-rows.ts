import { and, type Column, eq, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { Principal } from '../../../http/auth/principal.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import { type Database, PREPARED } from '../../../platform/db/database.ts';
import { isId } from '../../../platform/db/ids.ts';
import { contacts } from '../../../platform/db/schema/contacts.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { CONTACT_FIELD_NAMES } from '../../../platform/text/contact-fields.ts';
import type { TestClocks } from '../../../sending/emails/commands.ts';
import type { ContactView } from '../model.ts';

/** The services that reading contacts calls. */
export interface ContactReader {
  readonly database: Database;
}

/** The services that changing contacts calls. */
export interface ContactCommands {
  readonly database: Database;
  readonly signer: Signer;
  /** The test clocks by which contacts may live. Without them none does. */
  readonly testClocks?: () => TestClocks | undefined;
}

/** An environment of a workspace. */
export type Scope = Pick<Principal, 'workspaceId' | 'livemode'>;

/** Restricts to one environment: everything outside does not exist for the caller. */
export const ownContacts = ({
  workspaceId,
  livemode,
}: Scope | Readonly<Record<keyof Scope, Placeholder>>): SQL =>
  sql`${contacts.workspaceId} = ${workspaceId} and ${contacts.livemode} = ${livemode}`;

const iso = (moment: SQL | Column) =>
  sql`to_char(${moment} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const isoOrNull = (moment: SQL | Column) => sql`coalesce('"' || ${iso(moment)} || '"', 'null')`;
const textOrNull = (text: Column) => sql`coalesce(to_json(${text})::text, 'null')`;

const audienceIds = sql`array_to_json(array(select m.audience_id from audience_members m
  where m.contact_id = ${contacts.id} and m.state = 'joined' order by 1))`;
const lastActivityAt = sql`(select a.at from contact_activity a
  where a.contact_id = ${contacts.id} and not a.by_machine order by a.id desc limit 1)`;

const FIELDS_JSON = sql.join(
  CONTACT_FIELD_NAMES.map((name) => sql`${sql.raw(`',"${name}":'`)}, ${textOrNull(contacts[name])}`),
  sql`, `,
);

/**
 * The JSON of a contact as it is answered, written by the database. Of a page of fifty that takes PostgreSQL
 * no longer than writing out the columns, and saves the service more than half of its work: to read them, and
 * to write the same JSON.
 */
export const contactJson: SQL<string> = sql`concat(
  '{"id":"', ${contacts.id}, '","livemode":', case when ${contacts.livemode} then 'true' else 'false' end,
  ',"email":', to_json(${contacts.email}), ${FIELDS_JSON}, ',"properties":', ${contacts.properties},
  ',"status":"', ${contacts.status}, '","audienceIds":', ${audienceIds},
  ',"createdAt":"', ${iso(contacts.createdAt)}, '","updatedAt":"', ${iso(contacts.updatedAt)},
  '","unsubscribedAt":', ${isoOrNull(contacts.unsubscribedAt)}, ',"lastActivityAt":', ${isoOrNull(lastActivityAt)}, '}')`;

/** A contact as it is answered. */
export const contactOf = ({ json }: { readonly json: string }): ContactView =>
  JSON.parse(json) as ContactView;

/** The one that a path names, by id or by address; null when the text can be neither. */
export function namedContact(text: string): SQL | null {
  if (isId('con', text)) return eq(contacts.id, text);
  const address = parseAddress(text);
  return isProblem(address) || address.name !== null ? null : eq(contacts.emailKey, address.key);
}

/** Reads a contact by its id or address; null when there is none. @throws UnavailableError */
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
        .select({ json: contactJson })
        .from(contacts)
        .where(and(ownContacts(scope), named)),
    PREPARED,
  );
  return row ? contactOf(row) : null;
}

/**
 * The id of a contact that is named by its id or address; null when there is none. An id is returned as it
 * is: a statement that writes data of a contact looks for it itself. @throws UnavailableError
 */
export async function findContactId(
  { database }: ContactReader,
  scope: Scope,
  idOrEmail: string,
): Promise<string | null> {
  if (isId('con', idOrEmail)) return idOrEmail;
  const named = namedContact(idOrEmail);
  if (!named) return null;
  const [row] = await database.read(
    (orm) =>
      orm
        .select({ id: contacts.id })
        .from(contacts)
        .where(and(ownContacts(scope), named)),
    PREPARED,
  );
  return row?.id ?? null;
}
