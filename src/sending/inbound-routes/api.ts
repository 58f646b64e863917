import type { ReceivingRoutes } from './receiving-routes.ts';

/** The functions that inbound routes give to other modules. */
export interface InboundRoutesApi {
  readonly receivingRoutes: Pick<ReceivingRoutes, 'of'>;
}
