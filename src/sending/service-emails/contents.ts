import type { ServiceEmail, WebhookAnswer } from '../../accounts/service-emails.ts';
import { ROLE_WORDS } from '../../http/auth/roles.ts';
import { isolatedIn, type PageLanguage } from '../../platform/text/language.ts';
import { ownOf } from '../../platform/text/own-member.ts';
import type { Content } from './layout.ts';
import { TEXTS } from './texts/all-texts.ts';
import type { ServiceTexts, Words } from './texts/texts.ts';

/** The facts that the contents show besides their subject. */
export interface SenderNames {
  /** The name of the workspace; that of the product where there is none. */
  readonly name: string;
  readonly publicUrl: string;
}

/**
 * A moment in the way of a language. A person may belong to workspaces in several zones: it is UTC, and says
 * so.
 */
const momentIn = (language: PageLanguage, at: number): string =>
  `${new Date(at).toLocaleString(language, { dateStyle: 'long', timeStyle: 'short', hourCycle: 'h23', timeZone: 'UTC' })} UTC`;

/** The results of the last attempts, each with its number; null for none. */
function resultsOf(
  { language, failures }: ServiceTexts,
  answers: string | readonly WebhookAnswer[],
): string | null {
  if (answers.length === 0) return null;
  // An email that an earlier version has stored.
  if (typeof answers === 'string') return isolatedIn(language, answers);
  const results = answers.map(({ httpStatus, error, count }) => {
    const result = error === null ? `HTTP ${httpStatus}` : (ownOf(failures, error) ?? error);
    return `${isolatedIn(language, result)} (${count.toLocaleString(language)})`;
  });
  return new Intl.ListFormat(language).format(results);
}

/** The words of an email, and the page that its button opens. */
function composed(
  email: ServiceEmail,
  texts: ServiceTexts,
  { name, publicUrl }: SenderNames,
): { readonly words: Words; readonly url: string } {
  const own = (text: string) => isolatedIn(texts.language, text);
  const moment = (at: number) => own(momentIn(texts.language, at));
  const workspace = own(name);
  switch (email.kind) {
    case 'invitation': {
      const { url, expiresAt } = email;
      const role = ROLE_WORDS[texts.language][email.role];
      return { words: texts.invitation({ workspace, role, until: moment(expiresAt) }), url };
    }
    case 'passwordReset':
      return { words: texts.passwordReset({ until: moment(email.expiresAt) }), url: email.url };
    case 'signInChanged': {
      const { change, changedAt } = email;
      return { words: texts.signInChanged({ change, at: moment(changedAt) }), url: `${publicUrl}/app` };
    }
    case 'domainLost':
      return {
        words: texts.domainLost({ workspace, domain: own(email.domain) }),
        url: `${publicUrl}/app/${email.workspaceId}/live/domains`,
      };
    case 'webhookDisabled': {
      const { workspaceId, webhookId, livemode, url, failures, answers, disabledAt } = email;
      return {
        words: texts.webhookDisabled({
          workspace,
          failures,
          url: own(url),
          results: resultsOf(texts, answers),
          at: moment(disabledAt),
        }),
        url: `${publicUrl}/app/${workspaceId}/${livemode ? 'live' : 'test'}/webhooks/${webhookId}`,
      };
    }
    case 'campaignPaused': {
      const { workspaceId, campaign, reason, remaining } = email;
      return {
        words: texts.campaignPaused({ workspace, reason, remaining, campaign: own(campaign) }),
        url: `${publicUrl}/app/${workspaceId}/live/campaigns`,
      };
    }
  }
}

const ISOLATES = /[\u2068\u2069]/g;

export function contentOf(email: ServiceEmail, language: PageLanguage, sending: SenderNames): Content {
  const texts = TEXTS[language];
  const { words, url } = composed(email, texts, sending);
  const { subject, button, title = subject, ...rest } = words;
  return {
    ...rest,
    language,
    title,
    orOpen: texts.orOpen,
    button: { label: button, url },
    // Lists of mail show the isolating marks of some subjects as boxes.
    subject: subject.replaceAll(ISOLATES, ''),
  };
}
