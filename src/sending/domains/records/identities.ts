import {
  IdentityRefused,
  identityState,
  registerIdentity,
  replaceKey,
} from '../../../mail/transport/ses/identity.ts';
import { type SesApi, SesUnreachable } from '../../../mail/transport/ses/ses-api.ts';
import type { Sealer } from '../../../platform/crypto/sealer.ts';
import type { Identities } from './check.ts';
import { openRsaKey } from './keys.ts';

/** Longer than a healthy API takes, shorter than the lease of a check. */
const TIMEOUT_MS = 10_000;

/**
 * The register of domains at Amazon SES. Each has our own RSA key (BYODKIM), so that one DNS record serves
 * both. A removed domain stays registered, because others may use it through the same account and it may have
 * been there before. For the same reason our key replaces an existing one only once our record is in DNS:
 * until then no receiver could verify our signatures, and the workspace has not proven that the domain is its
 * own.
 */
export const sesIdentities = (api: SesApi, sealer: Sealer): Identities => ({
  async stateOf({ id, name }, { selector, rsaKey }, { isNew, isProven }) {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const identity = { domain: name, selector };
      const currentState = () => identityState(api, identity, signal);
      const keyed = () => ({ ...identity, privateKey: openRsaKey(sealer, id, rsaKey) });
      let state = isNew ? 'absent' : await currentState();
      if (state === 'absent') {
        await registerIdentity(api, keyed(), signal);
        state = await currentState();
      }
      if (state !== 'otherKey' || !isProven) return state;
      await replaceKey(api, keyed(), signal);
      return await currentState();
    } catch (error) {
      if (error instanceof SesUnreachable || error instanceof IdentityRefused) return 'unreachable';
      throw error;
    }
  },
});
