import type { EmailContext } from '../../../machines/email-context.ts';
import type { Clock } from '../../engine/clock-source.ts';
import type { Performer } from '../../engine/performers.ts';
import { simulate } from './simulate.ts';

/** Orders that may run at once, and that may wait in memory; the rest is left to the clock. */
const SLOTS = 1_000;
const BACKLOG = 4_000;

/** Carries out attempts: test mail is played by the simulator, which never opens a connection. */
export const emailPerformer = (clock: Clock): Performer => ({
  slots: SLOTS,
  backlog: BACKLOG,
  perform: ({ actor }) =>
    simulate(actor.snapshot.context as EmailContext, `<${actor.id}@simulator>`, clock.now()),
});
