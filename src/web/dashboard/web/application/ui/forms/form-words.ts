/**
 * The words that forms bring themselves. Pages that people open without an account have them in their
 * language.
 */
export interface OwnFormWords {
  readonly working: string;
  readonly showPassword: string;
  /** For how hard a password is to guess, from the weakest to the strongest. */
  readonly strengths: readonly [string, string, string, string];
}

export const ENGLISH: OwnFormWords = {
  working: 'Working…',
  showPassword: 'Show password',
  strengths: ['Weak: easy to guess', 'Fair: a longer password is safer', 'Good', 'Strong'],
};

export const PASSWORD_HINT = 'At least 12 characters. A few unrelated words work best.';
