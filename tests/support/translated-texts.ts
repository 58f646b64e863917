import type { SignInChange } from '../../src/accounts/service-emails.ts';
import { TEXTS as RECIPIENTS } from '../../src/audience/preferences/texts/all-texts.ts';
import { ROLE_WORDS } from '../../src/http/auth/roles.ts';
import type { PageLanguage } from '../../src/platform/text/language.ts';
import { TEXTS as EMAILS } from '../../src/sending/service-emails/texts/all-texts.ts';
import type { PauseReason, Words } from '../../src/sending/service-emails/texts/texts.ts';
import { WORDS } from '../../src/web/dashboard/web/application/entrances/words/all-words.ts';

/** The stand-in for every value, so that a text is the words of its language alone. */
const VALUE = '⟦⟧';

/** Numbers of every form that a language of the pages has (CLDR), and some around them. */
export const COUNTS = [0, 1, 2, 3, 5, 10, 11, 21, 22, 25, 100, 101, 102, 103, 1_000_000] as const;

const CHANGES = {
  passwordChanged: null,
  passwordReset: null,
  authenticatorAdded: null,
  authenticatorRemoved: null,
  passkeyAdded: null,
  passkeyRemoved: null,
  codeRepeated: null,
} as const satisfies Record<SignInChange, null>;

const REASONS = {
  quota_exceeded: null,
  bounce_rate: null,
  complaint_rate: null,
  canary: null,
  sender_unverified: null,
} as const satisfies Record<PauseReason, null>;

/** Every email of the service in a language, with a value or another in it. */
export function emailsIn(language: PageLanguage, value = VALUE): readonly Words[] {
  const texts = EMAILS[language];
  const all = { workspace: value, role: value, until: value, at: value, domain: value, url: value };
  return [
    texts.invitation(all),
    texts.passwordReset(all),
    ...Object.keys(CHANGES).map((change) => texts.signInChanged({ ...all, change: change as SignInChange })),
    texts.domainLost(all),
    ...COUNTS.map((failures) => texts.webhookDisabled({ ...all, failures, results: value })),
    texts.webhookDisabled({ ...all, failures: 1, results: null }),
    ...Object.keys(REASONS).flatMap((reason) =>
      COUNTS.map((remaining) =>
        texts.campaignPaused({ ...all, campaign: value, reason: reason as PauseReason, remaining }),
      ),
    ),
  ];
}

/** All texts of a value, however deep they are. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** The texts of a page, with a value in each that takes one. */
function wordsOf(language: PageLanguage): string[] {
  const words = WORDS[language];
  return [
    ...textsOf(words),
    ...[words.join, words.signedInAs].map((made) => made(VALUE)),
    ...[null, VALUE].map((by) =>
      words.invitation({ by, workspace: VALUE, role: VALUE, email: VALUE, until: VALUE }),
    ),
    ...COUNTS.map(words.problems.tooSoon),
  ];
}

function ofRecipients(language: PageLanguage): string[] {
  const { forAddress, askConfirm, confirmedHint, mailSubject, mailText, ...texts } = RECIPIENTS[language];
  const made = [forAddress, askConfirm, confirmedHint, mailSubject].map((write) => write(VALUE));
  return [...textsOf(texts), ...made, mailText(VALUE, VALUE, VALUE)];
}

/**
 * All that people read in a language: emails of the service, the pages behind them, the pages of recipients
 * and their mail.
 */
export const everythingIn = (language: PageLanguage): readonly string[] => [
  ...textsOf(emailsIn(language)),
  EMAILS[language].orOpen,
  ...Object.values(EMAILS[language].failures),
  ...Object.values(ROLE_WORDS[language]),
  ...wordsOf(language),
  ...ofRecipients(language),
];
