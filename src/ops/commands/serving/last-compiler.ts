import { environmentOfProcess, isExecutable } from '../../../platform/config/environment.ts';

/**
 * JavaScriptCore reads it as a process begins, so that the process has to replace itself. Bun's `jitPolicy` would hold
 * back the middle compiler too, without which a message costs a tenth more.
 */
const THRESHOLD = 'BUN_JSC_thresholdForFTLOptimizeAfterWarmUp';
/** Ten times the usual: the last compiler gets what runs all the time, and not several hundred functions on two cores. */
const RUNS = '1000000';

/**
 * Replaces this process by itself with the last compiler of JavaScript held back. A service then spends a fifth less
 * on its first 2,000 messages, and a twentieth less on 16,000 (docs/performance.md). Returns where that is done, the
 * operator chose another number, or the system refuses: a service with the usual compilers is as good, and slower.
 */
export function holdBackLastCompiler(): void {
  const environment = environmentOfProcess();
  if (!isExecutable() || environment[THRESHOLD] !== undefined || process.platform === 'win32') return;
  try {
    process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], {
      ...environment,
      [THRESHOLD]: RUNS,
    });
  } catch {}
}
