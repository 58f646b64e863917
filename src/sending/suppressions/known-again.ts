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
/** Ids are made by the clocks of all instances, and an email that is accepted while a person is forgotten names them. */
const SLACK_MS = 60_000;

/** $1 workspace, $2 the id behind which the page begins. */
const CONTACTS = `select id, email, email_key from contacts
where workspace_id = $1 and livemode and id > $2 order by id limit ${PAGE}`;

interface ContactRow extends KnownAgain {
  readonly email_key: string;
}

/**
 * The live contact whose address has that hash; null where the person is no contact again. Contacts are stored without a hash, so each
 * one that was created since the email was accepted is looked at: the contact from before is deleted. @throws UnavailableError
 */
export async function findKnownAgain(
  { database, signer }: { readonly database: Database; readonly signer: Signer },
  { workspaceId, hash, emailId }: ForgottenPerson,
): Promise<KnownAgain | null> {
  let after = lowestIdAt('con', Math.max(0, timeOfId(emailId) - SLACK_MS));
  for (;;) {
    const page = await database.query<ContactRow>(CONTACTS, [workspaceId, after]);
    const found = page.find(({ email_key: key }) => forgottenKey(signer, workspaceId, key) === hash);
    if (found) return found;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return null;
    after = last.id;
  }
}
