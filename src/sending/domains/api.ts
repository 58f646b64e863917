import type { cachedSendingDomains } from './sending-domains.ts';

/** The functions that domains give to other modules. */
export interface DomainApi {
  readonly findSendingDomain: ReturnType<typeof cachedSendingDomains>;
}
