import type { CampaignContext, CampaignEvent } from '../../../../machines/campaign/context.ts';
import type { Order } from '../../../engine/machine/draft.ts';
import { stateOf } from '../../../engine/machine/kind.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import type { DispatchDeps, Turn } from '../deps.ts';
import { Dispatch } from './dispatch.ts';
import { prepare } from './prepare.ts';

/** Campaigns that one process works on at once; the others have their turns in between. */
const AT_ONCE = 4;
/** Campaigns that wait in memory for their turn; those beyond it are found by the clock again. */
const BACKLOG = 1_000;

/** The time for which a campaign is worked on before others have their turn. */
const TURN_MS = 4_000;

/**
 * Prepares campaigns, and dispatches their emails. A turn commits its work as it goes, so that after a crash
 * another turn, here or elsewhere, continues with the recipients who still wait.
 */
export function campaignWorker(deps: () => DispatchDeps): Performer {
  let isStopping = false;
  return {
    slots: AT_ONCE,
    backlog: BACKLOG,
    async perform(order: Order): Promise<readonly CampaignEvent[]> {
      const { clock } = deps();
      const { actor } = order;
      const context = actor.snapshot.context as CampaignContext;
      const begun = clock.monotonic();
      const turn: Turn = {
        campaignId: actor.id,
        workspaceId: actor.workspaceId,
        context,
        isOver: () => isStopping || clock.monotonic() - begun > TURN_MS,
      };
      return stateOf(actor.snapshot) === 'preparing'
        ? prepare(deps(), turn)
        : new Dispatch(deps(), turn).run();
    },
    stop: () => {
      isStopping = true;
    },
  };
}
