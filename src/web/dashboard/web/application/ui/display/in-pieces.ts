/** At a processor slowed four times this is still what one piece takes: it ends by the clock. */
export const PIECE_MS = 4;

/** Ends after the keys and clicks that wait. */
async function turn(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: { yield?: () => Promise<void> } };
  if (scheduler?.yield) return await scheduler.yield();
  await new Promise<void>((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

interface PiecesDeps {
  /** False: the rest is left out. */
  readonly isWanted: () => boolean;
  readonly now?: () => number;
  readonly pause?: () => Promise<void>;
}

/**
 * Does long work in short tasks, so that a key that is pressed meanwhile waits for one of them and not for
 * all.
 */
export async function inPieces(
  steps: Iterable<unknown>,
  { isWanted, now = () => performance.now(), pause = turn }: PiecesDeps,
): Promise<void> {
  let end = now() + PIECE_MS;
  for (const _ of steps) {
    if (now() < end) continue;
    await pause();
    if (!isWanted()) return;
    end = now() + PIECE_MS;
  }
}
