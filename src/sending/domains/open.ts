import type { Registration } from '../../engine/runtime/running-kind.ts';
import type { NameServer } from '../../mail/dns/exchange.ts';
import { createResolver, systemNameServers } from '../../mail/dns/resolver.ts';
import { createSesApi } from '../../mail/transport/ses/ses-api.ts';
import { Semaphore } from '../../platform/async/semaphore.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { DomainCommands } from './commands.ts';
import { domains } from './kind.ts';
import type { Identities } from './records/check.ts';
import { sesIdentities } from './records/identities.ts';
import { domainPerformer } from './records/performer.ts';
import { type SetupSource, setupOf } from './records/setup.ts';

export interface DomainParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly config: SetupSource & SesSource & { readonly dnsServers: readonly NameServer[] | null };
}

/** The configuration of Amazon SES; null members when it is not used. */
interface SesSource {
  readonly sesRegion: string | null;
  readonly sesEndpoint: string | null;
  readonly awsAccessKeyId: string | null;
  readonly awsSecretAccessKey: string | null;
}

/** The opened parts of domains. The commands still lack the engine. */
export interface Domains {
  readonly kind: Registration;
  readonly commands: Omit<DomainCommands, 'engine' | 'releaseWaiting'>;
}

/** Calls that make keys at once: each occupies a thread for 40 to 80 ms. */
const KEY_MAKING = 2;

/** Builds the parts of domains. */
export function openDomains({ database, clock, sealer, config }: DomainParts): Domains {
  const setup = setupOf(config);
  const checking = {
    setup,
    openResolver: () => createResolver(config.dnsServers ?? systemNameServers()),
    identities: identitiesOf(config, sealer, clock.now),
  };
  return {
    kind: domains(domainPerformer({ database, clock }, checking)),
    commands: { database, sealer, setup, keyMaking: new Semaphore(KEY_MAKING) },
  };
}

function identitiesOf(
  { transport, ...ses }: DomainParts['config'],
  sealer: Sealer,
  now: () => number,
): Identities | null {
  const { sesRegion: region, awsAccessKeyId: accessKeyId, awsSecretAccessKey: secretAccessKey } = ses;
  if (!transport.includes('ses') || !region || !accessKeyId || !secretAccessKey) return null;
  return sesIdentities(
    createSesApi({ region, accessKeyId, secretAccessKey, endpoint: ses.sesEndpoint, now }),
    sealer,
  );
}
