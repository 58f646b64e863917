import type { SendLimits } from './transport.ts';

/** This process may not make the attempt, or may not any more: no connection was opened for it. */
export class NotBegun extends Error {
  override readonly name: string = 'NotBegun';
}

/**
 * The attempt is taken back: no server has the mail, and it would have to wait for one. It waits where
 * nothing is in doubt, and is asked for again.
 */
export class TakenBack extends NotBegun {
  override readonly name = 'TakenBack';
}

/**
 * Every transport calls this after all waiting and before it opens a connection: an attempt that never began
 * is surely not delivered, however the process ends. @throws NotBegun
 */
export async function begin({ begin: mayBegin }: Pick<SendLimits, 'begin'>): Promise<void> {
  if (mayBegin && !(await mayBegin())) throw new NotBegun();
}

/** The beginning of an attempt, as the transports see it. */
export interface Beginning {
  /** Is awaited before a connection is opened. @throws NotBegun */
  readonly begin: () => Promise<void>;
  /** True where an attempt that has begun may be taken back. */
  readonly mayTakeBack: boolean;
}

/**
 * Begins with the first call alone: the result of one connection is not lost because another may not be
 * opened.
 */
export function beginOnce({ begin: mayBegin, mayTakeBack = false }: SendLimits): Beginning {
  let isBegun = false;
  const once = async () => {
    if (isBegun) return;
    await begin({ ...(mayBegin && { begin: mayBegin }) });
    isBegun = true;
  };
  return { begin: once, mayTakeBack };
}
