import { delayEnd } from '../../../../machines/flow-run/time.ts';
import type { Detail } from '../../../platform/errors/failure.ts';
import { LATEST } from '../definition/step-configs.ts';
import { EARLIEST, type SimulateBody } from './simulation-model.ts';

type EventDelay = NonNullable<SimulateBody['events']>[number]['after'];

const BEYOND = 'Must be from 2000 to 2099.';

/** Lists the events that lie beyond the moments that a simulation knows. */
export function momentProblems(
  { events = [] }: SimulateBody,
  start: number,
  zone: string,
): readonly Detail[] {
  const isBeyond = (at: number) => !(at >= EARLIEST && at < LATEST);
  if (isBeyond(start)) return [{ path: '/body/startAt', message: BEYOND }];
  return events.flatMap(({ after }, index) =>
    isBeyond(momentAfter(start, after, zone))
      ? [{ path: `/body/events/${index}/after`, message: BEYOND }]
      : [],
  );
}

/** The moment of an event that comes so long after the start. */
export const momentAfter = (start: number, { amount, unit }: EventDelay, zone: string): number =>
  amount === 0 ? start : delayEnd(start, { amount, unit }, zone);
