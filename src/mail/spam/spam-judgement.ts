/** The judgement on a received message: `unknown` where the filter gave none. */
export type SpamJudgement =
  | { readonly verdict: 'spam' | 'ham'; readonly score: number }
  /** Amazon SES gives no points. */
  | { readonly verdict: 'spam' | 'ham' | 'virus' | 'unknown'; readonly score: null };

/** The judgement where the filter gives none, or there is none. */
export const NO_JUDGEMENT: SpamJudgement = { verdict: 'unknown', score: null };

/** The connection that a message came by, which rules about networks ask for. */
export interface Origin {
  readonly helo: string;
  /** Null where it is not known, as of a message in a mailbox. */
  readonly client: string | null;
  /** The envelope sender; empty for the null one. */
  readonly from: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The name of this server. */
  readonly by: string;
}

/** Asks a spam filter about a message. Rejects when it does not answer, or the signal fires before. */
export type AskScanner = (
  raw: Buffer,
  origin: Origin,
  signal: AbortSignal,
) => Promise<{ readonly isSpam: boolean; readonly score: number }>;
