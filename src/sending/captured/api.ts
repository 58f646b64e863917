import type { AskSpamAssassin } from '../../mail/spam/spam-assassin.ts';

export type { SpamVerdict } from '../../mail/spam/spam-verdict.ts';

/** The functions that captured mail gives to other modules. */
export interface CapturedApi {
  /** Wakes requests that wait for captured mail of a workspace. */
  mailCaptured(workspaceId: string): void;
  /** Judges a message as captured mail is judged; null where no SpamAssassin is configured. */
  readonly judge: AskSpamAssassin | null;
}
