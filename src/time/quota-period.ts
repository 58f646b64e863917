import { isoOf } from './clock.ts';

/** The UTC month (live, `2026-11`) or UTC day (test, `2026-11-20`) that a send at that moment counts against. */
export const periodOf = (livemode: boolean, at: number): string => isoOf(at).slice(0, livemode ? 7 : 10);
