import type { EmailContext } from '../../../machines/email-context.ts';
import type { Clock } from '../../engine/clock-source.ts';
import type { Performer } from '../../engine/performers.ts';
import type { Order } from '../../engine/tell-batch.ts';
import { HELD, type LivePerformer } from './live-performer.ts';
import { simulate } from './simulate.ts';

/** Carries out attempts: test mail is played by the simulator, which never opens a connection; live mail leaves. */
export const emailPerformer = (
  clock: Clock,
  live: Pick<LivePerformer, 'perform' | 'settled' | 'stop' | 'stopped'>,
): Performer => ({
  // How many attempts of live mail run at once is its performer's own affair.
  slots: HELD,
  backlog: 0,
  perform: (order) =>
    order.actor.livemode
      ? live.perform(order)
      : simulate(contextOf(order), `<${order.actor.id}@simulator>`, clock.now()),
  declined: (order) => [
    { type: 'attempt.declined', at: clock.now(), attempt: contextOf(order).attempt } as const,
  ],
  settled: (order) => live.settled(order),
  stop: () => live.stop(),
  stopped: () => live.stopped(),
});

const contextOf = ({ actor }: Order): EmailContext => actor.snapshot.context as EmailContext;
