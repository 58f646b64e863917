import type { Sealer } from '../../db/seal.ts';
import { IdentityRefused, identityState, registerIdentity } from '../../transport/ses/identity.ts';
import { type SesApi, SesUnreachable } from '../../transport/ses/ses-api.ts';
import { openRsaKey } from './keys.ts';
import type { Identities } from './lookup.ts';

/** Longer than a healthy API takes, shorter than the lease of a check. */
const PATIENCE_MS = 10_000;

/**
 * Domains as Amazon SES knows them, each with our own RSA key (BYODKIM), so that one DNS record serves both. A removed
 * domain stays registered there: others may use it through the same account, and it may have been there before us.
 */
export const sesIdentities = (api: SesApi, sealer: Sealer): Identities => ({
  async stateOf({ id, name }, { selector, rsaKey }, isNew) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    try {
      const identity = { domain: name, selector };
      const state = isNew ? 'absent' : await identityState(api, identity, signal);
      if (state !== 'absent' && state !== 'otherKey') return state;
      const privateKey = openRsaKey(sealer, id, rsaKey);
      await registerIdentity(api, { ...identity, privateKey }, signal);
      return await identityState(api, identity, signal);
    } catch (error) {
      if (error instanceof SesUnreachable || error instanceof IdentityRefused) return 'unreachable';
      throw error;
    }
  },
});
