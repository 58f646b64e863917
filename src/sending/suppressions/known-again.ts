import { LruMap } from '../../platform/async/lru-map.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, timeOfId } from '../../platform/db/ids.ts';
import { forgottenKey } from './forgotten-recipients.ts';

/** A forgotten person, and an email from before, which knows the hash of the address. */
export interface ForgottenPerson {
  readonly workspaceId: string;
  /** The hash of the address, as `forgottenHash` gives it. */
  readonly hash: string;
  readonly emailId: string;
}

/** The contact that a forgotten person is again. */
interface KnownAgain {
  readonly id: string;
  readonly email: string;
}

/** Contacts that one statement reads: the hashes of so many take some milliseconds. */
const PAGE = 1_000;
/**
 * Ids are made by the clocks of all instances, and an email that is accepted while a person is forgotten
 * names them.
 */
const SLACK_MS = 60_000;

/** $1 workspace, $2 the id behind which the page begins. */
const CONTACTS = `select id, email, email_key from contacts
where workspace_id = $1 and livemode and id > $2 order by id limit ${PAGE}`;

interface ContactRow extends KnownAgain {
  readonly email_key: string;
}

/** Searches that are remembered for a database: reports of so many emails at a time are repeated. */
const MOST_REMEMBERED = 10_000;

/**
 * By the search, the id before which it found no contact: a report that is repeated looks at those since then
 * alone. A client that has the return path of an email may repeat one as often as it likes.
 */
const searched = new WeakMap<Pick<Database, 'query'>, LruMap<string, string>>();

function searchesOf(database: Pick<Database, 'query'>): LruMap<string, string> {
  const known = searched.get(database) ?? new LruMap({ entries: MOST_REMEMBERED });
  searched.set(database, known);
  return known;
}

/** The lowest id that a contact who is created behind this one may have yet. */
const withSlack = (id: string): string => lowestIdAt('con', Math.max(0, timeOfId(id) - SLACK_MS));

/**
 * The live contact whose address has that hash; null where the person is no contact again. Contacts are
 * stored without a hash, so each one that was created since the email was accepted is looked at: the contact
 * from before is deleted. @throws UnavailableError
 */
export async function findKnownAgain(
  { database, signer }: { readonly database: Database; readonly signer: Signer },
  { workspaceId, hash, emailId }: ForgottenPerson,
): Promise<KnownAgain | null> {
  const searches = searchesOf(database);
  const search = JSON.stringify([workspaceId, emailId, hash]);
  let after = searches.get(search) ?? withSlack(emailId);
  for (;;) {
    const page = await database.query<ContactRow>(CONTACTS, [workspaceId, after]);
    const found = page.find(({ email_key: key }) => forgottenKey(signer, workspaceId, key) === hash);
    if (found) return found;
    const last = page.at(-1);
    if (last) searches.set(search, withSlack(last.id));
    if (!last || page.length < PAGE) return null;
    after = last.id;
  }
}
