import type { AttemptCompleted } from '../../../../machines/email/context.ts';
import type { Order } from '../../../engine/machine/draft.ts';
import type { ActorEvent } from '../../../engine/machine/kind.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import type { Tracing } from '../../../platform/telemetry/tracing.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** The outcomes of a recipient that are no failure of the attempt. */
const FINE: ReadonlySet<string> = new Set(['accepted', 'suppressed']);

/**
 * A performer whose attempts are shown in the trace of their email, from their durable beginning to their
 * outcome. An order that begins no attempt is none: an email that waits offers itself again and again.
 */
export function traced(performer: Performer, tracing: Tracing | null, clock: Clock): Performer {
  if (tracing === null) return performer;
  const show = ({ actor }: Order, startedAt: number, events: readonly ActorEvent[]): void => {
    const completed = events.find(({ type }) => type === 'attempt.completed') as AttemptCompleted | undefined;
    if (!completed) return;
    const outcomes = completed.outcomes.map(({ outcome }) => outcome);
    const failed = outcomes.filter((outcome) => !FINE.has(outcome));
    tracing.record({
      emailId: actor.id,
      name: 'email attempt',
      startedAt,
      attributes: {
        'posthorn.workspace.id': actor.workspaceId,
        'posthorn.livemode': actor.livemode,
        'posthorn.attempt': completed.attempt,
        // One after the other, as the recipients of the email stand.
        'posthorn.outcomes': outcomes,
      },
      problem: failed.length === 0 ? null : [...new Set(failed)].join(', '),
    });
  };
  return {
    ...performer,
    perform(order, tell) {
      let startedAt = clock.now();
      const events = performer.perform(order, (event) => {
        if (event.type === 'attempt.begun') startedAt = event.at;
        return tell(event);
      });
      if (!(events instanceof Promise)) {
        show(order, startedAt, events);
        return events;
      }
      return events.then((came) => {
        show(order, startedAt, came);
        return came;
      });
    },
  };
}
