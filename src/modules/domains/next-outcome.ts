import type { Engine } from '../../engine/engine.ts';
import { domainKind } from './kind.ts';

/** A wait for the outcome of a check. */
export interface AwaitedOutcome {
  /** Resolves once an outcome is committed, or the time is over. */
  readonly settled: Promise<void>;
  /** Ends the wait. */
  forget(): void;
}

/** Waits for the next outcome of a check of one domain. Begin before asking for the check, so that none is missed. */
export function nextOutcome(engine: Engine, id: string, withinMs: number): AwaitedOutcome {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, withinMs);
  const deaf = engine.listen((kind, drafts) => {
    if (kind.name !== domainKind.name) return;
    for (const { after, steps } of drafts)
      if (after.id === id && steps.some(({ event }) => event === 'check.completed')) resolve();
  });
  return {
    settled: promise,
    forget() {
      clearTimeout(timer);
      deaf();
    },
  };
}
