import type { Engine } from '../../engine/engine.ts';
import { domainKind } from './kind.ts';

/** A running wait for the outcome of a check. */
export interface AwaitedOutcome {
  /** Resolves once an outcome is committed or the time has passed. */
  readonly settled: Promise<void>;
  /** Ends the wait early. */
  cancel(): void;
}

/** Waits for the next outcome of a check of one domain. It must begin before the check is ordered, or it may miss the outcome. */
export function nextOutcome(engine: Engine, id: string, withinMs: number): AwaitedOutcome {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, withinMs);
  const unlisten = engine.listen((kind, drafts) => {
    if (kind.name !== domainKind.name) return;
    for (const { after, steps } of drafts)
      if (after.id === id && steps.some(({ event }) => event === 'check.completed')) resolve();
  });
  return {
    settled: promise,
    cancel() {
      clearTimeout(timer);
      unlisten();
    },
  };
}
