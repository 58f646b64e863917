import type { BodyStore } from '../../platform/bodies/body-store.ts';
import type { BodyHolders } from '../../platform/bodies/holder.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { bodyCollector } from '../bodies/collector.ts';
import type { Kind } from '../machine/kind.ts';
import type { Duty, DutyDeps } from './duty.ts';
import { historyPruner } from './history-pruner.ts';
import { lastRunKeeper } from './last-run.ts';
import { partitionMaker } from './partition-maker.ts';
import { replyPruner } from './reply-pruner.ts';
import { tableAnalyser } from './table-analyser.ts';
import { tokenPruner } from './token-pruner.ts';

/** The dependencies of the service's own duties. */
export interface ServiceDutyDeps extends DutyDeps {
  readonly isDistributed?: boolean;
  readonly engine: { recoverOutbox(): Promise<number> };
  readonly kinds: readonly { readonly kind: Kind; readonly isLongLived?: boolean }[];
  /** The store of contents outside the database; null where there is none. */
  readonly bodies: BodyStore | null;
  readonly holders: BodyHolders;
  readonly logger: Logger;
}

/** The duties that belong to no module. */
export const serviceDuties = ({ bodies, ...deps }: ServiceDutyDeps): readonly Duty[] => [
  {
    name: 'outboxRelay',
    pattern: '*/5 * * * * *',
    asks: () => 'exists (select from actor_outbox)',
    run: () => deps.engine.recoverOutbox(),
  },
  partitionMaker(deps),
  lastRunKeeper(deps),
  replyPruner(deps),
  tokenPruner(deps),
  ...(bodies ? [bodyCollector({ ...deps, bucket: bodies.bucket })] : []),
  ...(deps.database.kind === 'embedded' ? [tableAnalyser(deps)] : []),
  historyPruner(
    deps,
    deps.kinds.flatMap(({ kind, isLongLived }) => (isLongLived ? kind : [])),
  ),
];
