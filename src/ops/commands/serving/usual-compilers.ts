/**
 * Lets the compilers compile code as early as usual. The executable starts with them held back eight times
 * (scripts/build/compile.ts), since they would spend a quarter of the processor time of a start on code that
 * never runs again.
 */
export const usualCompilers = (): void => Bun.unsafe.setJITPolicy(1);
