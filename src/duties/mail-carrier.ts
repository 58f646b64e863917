import type { Duty, DutyDeps } from './schedule.ts';

/** Delivers mail between actors that an instance which died has left behind. */
export const mailCarrier = ({ engine }: DutyDeps): Duty => ({
  name: 'mailCarrier',
  pattern: '*/5 * * * * *',
  run: () => engine.recoverMail(),
});
