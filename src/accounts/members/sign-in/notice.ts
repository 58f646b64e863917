import type { RequestLog } from '../../../http/log.ts';
import type { Call } from '../../../http/request/route.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { SendServiceEmail, SignInChange } from '../../service-emails.ts';
import { type Account, homeOf } from '../accounts.ts';

/** What telling people of changes needs. */
export interface NoticeDeps {
  readonly database: Database;
  readonly mail: SendServiceEmail;
  readonly log: RequestLog;
}

/**
 * Tells a person by mail that their sign-in was changed (ASVS 2.2.3, 2.5.5): whoever has taken over a session cannot do it unseen. The
 * change stands also where no mail can be written down.
 */
export async function tellOfChange(
  { database, mail, log }: NoticeDeps,
  { id, email: to }: Pick<Account, 'id' | 'email'>,
  change: SignInChange,
  { now: changedAt, requestId }: Pick<Call, 'now' | 'requestId'>,
): Promise<void> {
  try {
    const workspaceId = await homeOf(database, id);
    await mail({ kind: 'signInChanged', to, workspaceId, change, changedAt });
  } catch (error) {
    log.warn({ requestId, err: error, change }, 'A person could not be told of a change of their sign-in');
  }
}
