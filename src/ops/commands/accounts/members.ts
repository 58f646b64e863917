import { resetLink } from '../../../accounts/members/sign-in/reset.ts';
import type { Config } from '../../../platform/config/config.ts';
import { withClockedDatabase } from '../database/with-database.ts';
import type { Terminal } from '../terminal.ts';

/**
 * `posthorn members reset-password <email>` prints a link for a new password. It needs no mail, which may be
 * what is broken.
 */
export function printResetLink(
  config: Config,
  email: string,
  withoutSecondFactor: boolean,
  terminal: Terminal,
): Promise<number> {
  return withClockedDatabase(config, async (database, now) => {
    const { publicUrl } = config;
    const link = await resetLink(database, email, withoutSecondFactor, { publicUrl, now });
    if (link === null) {
      terminal.error('There is no account with this address.\n');
      return 1;
    }
    terminal.out(`${link.url}\n`);
    const { passkeys, hasAuthenticator } = link;
    if (!withoutSecondFactor && passkeys > 0)
      terminal.error(
        `The account keeps ${passkeys} passkey${passkeys === 1 ? '' : 's'}, each of which still opens it without a password: --without-second-factor removes them.\n`,
      );
    if (!withoutSecondFactor && hasAuthenticator)
      terminal.error('The authenticator is still required: --without-second-factor removes it.\n');
    return 0;
  });
}
