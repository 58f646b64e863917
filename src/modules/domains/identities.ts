import type { Sealer } from '../../crypto/sealer.ts';
import {
  IdentityRefused,
  identityState,
  registerIdentity,
  replaceKey,
} from '../../transport/ses/identity.ts';
import { type SesApi, SesUnreachable } from '../../transport/ses/ses-api.ts';
import type { Identities } from './check.ts';
import { openRsaKey } from './keys.ts';

/** Longer than a healthy API takes, shorter than the lease of a check. */
const PATIENCE_MS = 10_000;

/**
 * Domains as Amazon SES knows them, each with our own RSA key (BYODKIM), so that one DNS record serves both. A removed
 * domain stays registered there: others may use it through the same account, and it may have been there before us. For
 * their sake the key of one that is there is replaced only once ours is in DNS: before, nobody could check its signatures,
 * and whoever has added the domain here has not shown that it is theirs.
 */
export const sesIdentities = (api: SesApi, sealer: Sealer): Identities => ({
  async stateOf({ id, name }, { selector, rsaKey }, { isNew, isProven }) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    try {
      const identity = { domain: name, selector };
      const look = () => identityState(api, identity, signal);
      const keyed = () => ({ ...identity, privateKey: openRsaKey(sealer, id, rsaKey) });
      let state = isNew ? 'absent' : await look();
      if (state === 'absent') {
        await registerIdentity(api, keyed(), signal);
        state = await look();
      }
      if (state !== 'otherKey' || !isProven) return state;
      await replaceKey(api, keyed(), signal);
      return await look();
    } catch (error) {
      if (error instanceof SesUnreachable || error instanceof IdentityRefused) return 'unreachable';
      throw error;
    }
  },
});
