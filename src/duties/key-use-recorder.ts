import type { Duty, DutyDeps } from './schedule.ts';

/** Writes down when keys were last used, off the path of any request. */
export const keyUseRecorder = ({ authenticator }: DutyDeps): Duty => ({
  name: 'keyUseRecorder',
  pattern: '*/10 * * * * *',
  run: () => authenticator.noteUse(),
});
