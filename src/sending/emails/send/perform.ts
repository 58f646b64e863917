import type { EmailContext } from '../../../../machines/email/context.ts';
import type { Order } from '../../../engine/machine/draft.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { simulate } from '../simulator/simulator.ts';
import type { LivePerformer } from './performer.ts';

/** Carries out attempts: the simulator answers test mail without any connection, and live mail is sent. */
export const emailPerformer = (
  clock: Clock,
  live: Pick<LivePerformer, 'perform' | 'room' | 'bulkRoom' | 'settled' | 'stop' | 'stopped'>,
): Performer => ({
  // The performer of live mail limits its own slots and queue.
  slots: Number.MAX_SAFE_INTEGER,
  backlog: 0,
  room: () => live.room,
  bulkRoom: () => live.bulkRoom,
  perform: (order, tell) =>
    order.actor.livemode
      ? live.perform(order, tell)
      : simulate(contextOf(order), `<${order.actor.id}@simulator>`, clock.now()),
  // A declined live email stays in `queued` and offers itself again; a declined test email has to be told.
  declined: (order) =>
    order.actor.livemode
      ? []
      : [{ type: 'attempt.declined', at: clock.now(), attempt: contextOf(order).attempt } as const],
  settled: (order) => live.settled(order),
  stop: () => live.stop(),
  stopped: () => live.stopped(),
});

const contextOf = ({ actor }: Order): EmailContext => actor.snapshot.context as EmailContext;
