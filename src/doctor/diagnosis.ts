import type { Finding } from '../transport/transport.ts';

/** One thing that was looked at: how it is, and what to do when it is not well. */
export interface Diagnosis {
  readonly check: string;
  /** `skipped`: it does not matter here, or cannot be seen from here. */
  readonly status: 'fine' | 'wrong' | 'skipped';
  /** A sentence. */
  readonly detail: string;
  /** What to do, or to know; null when there is nothing. */
  readonly advice: string | null;
}

/** It is well. */
export const fine = (check: string, detail: string, advice: string | null = null): Diagnosis => ({
  check,
  status: 'fine',
  detail,
  advice,
});

/** It is not well, and this mends it. */
export const wrong = (check: string, detail: string, advice: string): Diagnosis => ({
  check,
  status: 'wrong',
  detail,
  advice,
});

/** It was not looked at, for this reason. */
export const skipped = (check: string, detail: string, advice: string | null = null): Diagnosis => ({
  check,
  status: 'skipped',
  detail,
  advice,
});

/** What a transport found out about itself. */
export const ofFinding = ({ check, ok, detail, advice }: Finding): Diagnosis => ({
  check,
  status: ok ? 'fine' : 'wrong',
  detail,
  advice,
});

/** The sentence of whatever was thrown. */
export const messageOf = (error: unknown): string => {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return /[.!?]$/.test(message) ? message : `${message}.`;
};
