import type { EmailContext } from '../../../../machines/email-context.ts';
import type { Order } from '../../../engine/draft.ts';
import type { Performer } from '../../../engine/performers.ts';
import type { Clock } from '../../../time/clock.ts';
import { simulate } from '../simulator/simulator.ts';
import type { LivePerformer } from './performer.ts';

/** Carries out attempts: test mail is played by the simulator, which never opens a connection; live mail leaves. */
export const emailPerformer = (
  clock: Clock,
  live: Pick<LivePerformer, 'perform' | 'room' | 'settled' | 'stop' | 'stopped'>,
): Performer => ({
  // How many attempts of live mail run, and wait, at once is its performer's own affair.
  slots: Number.MAX_SAFE_INTEGER,
  backlog: 0,
  room: () => live.room,
  perform: (order, tell) =>
    order.actor.livemode
      ? live.perform(order, tell)
      : simulate(contextOf(order), `<${order.actor.id}@simulator>`, clock.now()),
  // Live mail waits in `queued` until its attempt is begun: what is not taken offers itself again.
  declined: (order) =>
    order.actor.livemode
      ? []
      : [{ type: 'attempt.declined', at: clock.now(), attempt: contextOf(order).attempt } as const],
  settled: (order) => live.settled(order),
  stop: () => live.stop(),
  stopped: () => live.stopped(),
});

const contextOf = ({ actor }: Order): EmailContext => actor.snapshot.context as EmailContext;
