import type { SendLimits } from './transport.ts';

/** The attempt is not, or not any more, this process's to make: nothing was opened for it. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun';
}

/**
 * Asked by every transport once nothing is left to wait for, and before anything is opened or said: what was not begun is
 * surely not delivered, however the process ends. @throws NotBegun
 */
export async function begin({ begin: mayBegin }: Pick<SendLimits, 'begin'>): Promise<void> {
  if (mayBegin && !(await mayBegin())) throw new NotBegun();
}
