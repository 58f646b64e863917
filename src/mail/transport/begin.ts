import type { SendLimits } from './transport.ts';

/** This process may not make the attempt, or may not any more: no connection was opened for it. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun';
}

/**
 * Every transport calls this after all waiting and before it opens a connection: an attempt that never began is surely not
 * delivered, however the process ends. @throws NotBegun
 */
export async function begin({ begin: mayBegin }: Pick<SendLimits, 'begin'>): Promise<void> {
  if (mayBegin && !(await mayBegin())) throw new NotBegun();
}

/** Begins with the first call alone: what one connection has come to is not lost because another may not be opened. */
export function beginOnce(begin: () => Promise<void>): () => Promise<void> {
  let isBegun = false;
  return async () => {
    if (isBegun) return;
    await begin();
    isBegun = true;
  };
}
