import type { ReceivingRoutes } from './receiving-routes.ts';
import type { ReplyDomains } from './reply-domains.ts';

// biome-ignore lint/performance/noBarrelFile: the service connects routes to the people of a workspace by it.
export { type MayForward, mayForwardTo } from './forward-targets.ts';

/** The functions that inbound routes give to other modules. */
export interface InboundRoutesApi {
  readonly receivingRoutes: Pick<ReceivingRoutes, 'of'>;
  readonly findReplyDomain: ReplyDomains['of'];
}
