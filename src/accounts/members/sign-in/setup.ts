import { OneTimeTokens } from '../../../http/auth/passwords/one-time-tokens.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isSetUp } from '../accounts.ts';

/** A setup link is valid for a day; each start prints another one until one is used. */
const LASTS_MS = 86_400_000;

/** The subject of a setup link: the workspace that gets its first owner. */
export interface SetupSubject {
  readonly workspaceId: string;
}

/** The one-time tokens of setup links. */
export const setupTokensOf = (database: Database, now: () => number): OneTimeTokens<SetupSubject> =>
  new OneTimeTokens(database, 'setup', now);

/** Creates the link for the first owner; null when an account already exists. @throws UnavailableError */
export async function setupLink(
  database: Database,
  workspaceId: string,
  { publicUrl, now }: { readonly publicUrl: string; readonly now: () => number },
): Promise<string | null> {
  if (await isSetUp(database)) return null;
  const token = await setupTokensOf(database, now).issue({ workspaceId }, now() + LASTS_MS);
  // The token is in the fragment, which a browser does not send, not even in Referer.
  return `${publicUrl}/app/setup#token=${token}`;
}
