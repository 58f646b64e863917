import type { PageLanguage } from '../../../platform/text/language.ts';

/**
 * All that recipients read on pages and in the mail that asks them to confirm; one file for each language.
 */
export interface PageTexts {
  /** The language of the page itself. */
  readonly language: PageLanguage;
  readonly preferences: string;
  forAddress(address: string): string;
  readonly whatYouGet: string;
  readonly nothingOffered: string;
  readonly save: string;
  readonly saved: string;
  readonly everythingOff: string;
  readonly offHint: string;
  readonly isOff: string;
  readonly again: string;
  readonly isBack: string;
  readonly isBlocked: string;
  readonly unsubscribe: string;
  readonly askUnsubscribe: string;
  readonly unsubscribed: string;
  readonly noMore: string;
  readonly isTest: string;
  readonly isTestHint: string;
  readonly chooseInstead: string;
  readonly confirm: string;
  askConfirm(list: string): string;
  readonly confirmed: string;
  confirmedHint(list: string): string;
  readonly badLink: string;
  readonly badLinkHint: string;
  mailSubject(list: string): string;
  mailText(list: string, sender: string, url: string): string;
}
