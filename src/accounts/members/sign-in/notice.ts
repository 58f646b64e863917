import type { RequestLog } from '../../../http/log.ts';
import type { Call } from '../../../http/request/route.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { SendServiceEmail, SignInChange } from '../../service-emails.ts';
import { type Account, homeOf } from '../accounts.ts';

export interface NoticeDeps {
  readonly database: Database;
  readonly mail: SendServiceEmail;
  readonly log: RequestLog;
}

/**
 * Notifies a person by mail of a change of their sign-in (ASVS 2.2.3, 2.5.5), so that an attacker with a
 * session cannot make it unseen. The change takes effect even where no mail can be stored.
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
    log.warn({ requestId, err: error, change }, 'The notice of a changed sign-in could not be stored');
  }
}
