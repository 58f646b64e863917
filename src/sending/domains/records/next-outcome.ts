import type { DomainContext } from '../../../../machines/domain/context.ts';
import type { Engine } from '../../../engine/engine.ts';
import { domainKind } from '../kind.ts';

/** A running wait for the outcome of a check. */
export interface AwaitedOutcome {
  /**
   * Resolves once the outcome of the check with this number, or of a later one, is committed or the time has
   * passed.
   */
  of(attempt: number): Promise<void>;
  /** Ends the wait early. */
  cancel(): void;
}

/**
 * Waits for outcomes of checks of one domain. It must begin before the check is ordered, or it may miss the
 * outcome; an earlier check may end in between, which is why a wait names the check that it is for.
 */
export function nextOutcome(engine: Pick<Engine, 'listen'>, id: string, withinMs: number): AwaitedOutcome {
  const timeOver = Promise.withResolvers<void>();
  const timer = setTimeout(timeOver.resolve, withinMs);
  let completed = 0;
  let waiting: { readonly attempt: number; readonly resolve: () => void } | null = null;
  const unlisten = engine.listen((kind, drafts) => {
    if (kind.name !== domainKind.name) return;
    for (const { after } of drafts) {
      if (after.id !== id) continue;
      const { attempt, checkingSince } = after.snapshot.context as DomainContext;
      if (checkingSince === null) completed = Math.max(completed, attempt);
    }
    if (waiting && completed >= waiting.attempt) waiting.resolve();
  });
  return {
    async of(attempt) {
      if (completed >= attempt) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting = { attempt, resolve };
      await Promise.race([promise, timeOver.promise]);
    },
    cancel() {
      clearTimeout(timer);
      unlisten();
    },
  };
}
