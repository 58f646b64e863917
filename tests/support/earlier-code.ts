import { totpCode } from '../../src/http/auth/passwords/totp.ts';

/** The number of the half minute of which a code of an authenticator is. */
export const step = (): number => Math.floor(Date.now() / 30_000);

/**
 * Confirms an authenticator with the code of the step before, so that the one of now is free for a sign-in.
 * It is refused where the step of now ends meanwhile, and the next one is tried then. Answers the step too.
 */
export async function confirmEarlier<Told extends { readonly status: number }>(
  secret: string,
  confirm: (code: string) => Promise<Told>,
): Promise<{ readonly now: number; readonly confirmed: Told }> {
  for (;;) {
    const now = step();
    const confirmed = await confirm(totpCode(secret, now - 1));
    if (confirmed.status < 300 || step() === now) return { now, confirmed };
  }
}
