import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageLanguage } from '../../../platform/text/language.ts';

/**
 * All that recipients read on pages and in the mail that asks them to confirm; one file for each language.
 */
export type PageTexts = Readonly<Omit<typeof en, 'language'>> & { readonly language: PageLanguage };

export const en = {
  language: 'en' as const,
  preferences: 'Email preferences',
  forAddress: (address: string) => `For ${address}`,
  whatYouGet: 'What you want to get',
  nothingOffered: 'There are no lists to choose from.',
  save: 'Save',
  saved: 'Your choice is saved.',
  everythingOff: 'Unsubscribe from everything',
  offHint: 'You will still get what you asked for yourself, such as receipts and new passwords.',
  isOff: 'You are unsubscribed from everything.',
  again: 'Get emails again',
  isBack: 'You get emails again.',
  isBlocked: 'No emails are sent to this address, since it was reported as unreachable or unwanted.',
  unsubscribe: WAY_OUT_WORDS.en,
  askUnsubscribe: 'Do you want no more of these emails?',
  unsubscribed: 'You are unsubscribed',
  noMore: 'You will get no more of these emails. You can close this page.',
  isTest: 'This is a test',
  isTestHint:
    'This link is in a test email, and unsubscribes no one. In the email that is sent to an audience it unsubscribes its recipient.',
  chooseInstead: 'Choose what you get',
  confirm: 'Confirm',
  askConfirm: (list: string) => `Do you want to get “${list}”?`,
  confirmed: 'You are on the list',
  confirmedHint: (list: string) => `From now on you get “${list}”. You can close this page.`,
  badLink: 'This link is not valid',
  badLinkHint: 'Open it again from the email, whole and unchanged.',
  mailSubject: (list: string) => `Please confirm: ${list}`,
  mailText: (list: string, sender: string, url: string) =>
    `This address was entered to get “${list}” from ${sender}.\n\nTo confirm, open this page and press the button:\n${url}\n\nIf you did not enter it, ignore this email: nothing will be sent.\n`,
};
