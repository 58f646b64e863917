import type { PausedReason } from '../../../../machines/campaign/context.ts';
import type { SignInChange } from '../../../accounts/service-emails.ts';
import type { PageLanguage } from '../../../platform/text/language.ts';
import type { PostError } from '../../webhooks/queries.ts';

/** The words of one email, from top to bottom. */
export interface Words {
  readonly subject: string;
  /** The preview text, which mail programs show beside the subject. */
  readonly preview: string;
  /** The heading; the subject where it is absent. */
  readonly title?: string;
  readonly paragraphs: readonly string[];
  /** The label of the button. */
  readonly button: string;
  /** The reason why the reader gets the email, and what to do about an unexpected one. */
  readonly foot: string;
}

/** The reasons for which the service itself pauses a campaign. */
export type PauseReason = Exclude<PausedReason, 'manual'>;

/**
 * The words of the emails that the service itself sends; one file for each language. Roles and times are
 * written out already.
 */
export interface ServiceTexts {
  readonly language: PageLanguage;
  /** It introduces the address behind a button. */
  readonly orOpen: string;
  invitation(said: { readonly workspace: string; readonly role: string; readonly until: string }): Words;
  passwordReset(said: { readonly until: string }): Words;
  signInChanged(said: { readonly change: SignInChange; readonly at: string }): Words;
  domainLost(said: { readonly domain: string; readonly workspace: string }): Words;
  /** The results of attempts without a complete answer, in a list. */
  readonly failures: Readonly<Record<PostError, string>>;
  webhookDisabled(said: {
    readonly workspace: string;
    readonly url: string;
    readonly failures: number;
    /** The last results; null where they were not stored. */
    readonly results: string | null;
    readonly at: string;
  }): Words;
  campaignPaused(said: {
    readonly workspace: string;
    readonly campaign: string;
    readonly reason: PauseReason;
    readonly remaining: number;
  }): Words;
}
