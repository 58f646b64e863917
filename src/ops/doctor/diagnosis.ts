import type { Finding } from '../../mail/transport/transport.ts';

/** The result of one check, and the advice when something is wrong. */
export interface Diagnosis {
  readonly check: string;
  /**
   * A check is `skipped` where it does not matter, or cannot be made from here. A `warning` may be what the
   * operator wants.
   */
  readonly status: 'fine' | 'wrong' | 'warning' | 'skipped';
  /** A sentence. */
  readonly detail: string;
  /** Null when there is nothing to do or to know. */
  readonly advice: string | null;
}

/** The diagnosis of a check that found no fault. */
export const fine = (check: string, detail: string, advice: string | null = null): Diagnosis => ({
  check,
  status: 'fine',
  detail,
  advice,
});

/** The diagnosis of a fault, with the advice that corrects it. */
export const wrong = (check: string, detail: string, advice: string): Diagnosis => ({
  check,
  status: 'wrong',
  detail,
  advice,
});

/** The diagnosis of a setting that works now and will surprise later. */
export const warning = (check: string, detail: string, advice: string): Diagnosis => ({
  check,
  status: 'warning',
  detail,
  advice,
});

/** The diagnosis of a check that was not made, with the reason. */
export const skipped = (check: string, detail: string, advice: string | null = null): Diagnosis => ({
  check,
  status: 'skipped',
  detail,
  advice,
});

/** The diagnosis of a transport's finding about itself. */
export const ofFinding = ({ check, ok, detail, advice }: Finding): Diagnosis => ({
  check,
  status: ok ? 'fine' : 'wrong',
  detail,
  advice,
});

/** The message of any thrown value, as a sentence. */
export const messageOf = (error: unknown): string => {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return /[.!?]$/.test(message) ? message : `${message}.`;
};
