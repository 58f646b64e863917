import type { KeyAuthenticator } from '../../auth/key-authenticator.ts';
import type { Duty } from '../../duties/duty.ts';

/** Writes down when keys were last used, off the path of any request. */
export const keyUseRecorder = (authenticator: Pick<KeyAuthenticator, 'noteUse'>): Duty => ({
  name: 'keyUseRecorder',
  pattern: '*/10 * * * * *',
  run: () => authenticator.noteUse(),
});
