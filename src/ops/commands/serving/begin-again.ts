import { environmentOfProcess, isExecutable } from '../../../platform/config/environment.ts';

/** Settings that the runtime reads as a process begins, so that the process has to replace itself. */
export const RUNTIME_SETTINGS: Readonly<Record<string, string>> = {
  /**
   * Ten times the usual: the last compiler of JavaScriptCore gets what runs all the time, and not several
   * hundred functions on two cores. Bun's `jitPolicy` would hold back the middle compiler too, without which
   * a message costs a tenth more.
   */
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '1000000',
  /**
   * Milliseconds, a hundred times the usual: the allocator looks through a thread's pages for free parts
   * whenever that thread rests, which a busy one does ten times a second, only to need them again.
   */
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '10000',
};

/**
 * Replaces this process by itself with settings under which a service costs less (docs/performance.md).
 * Returns where that is done, or the system refuses: a service with the usual settings is as good, and
 * slower. What the operator has set stays.
 */
export function beginAgain(): void {
  const environment = environmentOfProcess();
  const missing = Object.keys(RUNTIME_SETTINGS).some((name) => environment[name] === undefined);
  if (!isExecutable() || !missing || process.platform === 'win32') return;
  try {
    process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], {
      ...RUNTIME_SETTINGS,
      ...environment,
    });
  } catch {}
}
