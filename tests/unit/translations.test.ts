import { describe, expect, test } from 'bun:test';
import { TEXTS as RECIPIENTS } from '../../src/audience/preferences/texts/all-texts.ts';
import {
  isolatedIn,
  PAGE_LANGUAGES,
  type PageLanguage,
  pageLanguageAmong,
  pageLanguageOf,
} from '../../src/platform/text/language.ts';
import { counted } from '../../src/platform/text/plurals.ts';
import { contentOf } from '../../src/sending/service-emails/contents.ts';
import { htmlOf, textOf } from '../../src/sending/service-emails/layout.ts';
import { TEXTS as EMAILS } from '../../src/sending/service-emails/texts/all-texts.ts';
import { WORDS } from '../../src/web/dashboard/web/application/entrances/words/all-words.ts';
import { COUNTS, emailsIn, everythingIn, textsOf } from '../support/translated-texts.ts';

/** Words that are the same as in English: names, and words that the language has too. */
const ALSO_ENGLISH: Readonly<Record<Exclude<PageLanguage, 'en'>, string>> = {
  de: 'api authenticator code dns domain link live name passkey passkeys person posthorn spam test tls was webhook',
  fr: 'api audience change code dns invitation page posthorn second secret service session sessions six spam test tls webhook',
  es: 'api dns factor host ignore posthorn spam tls use webhook',
  it: 'account all api dns endpoint host link passkey password posthorn spam test tls webhook',
  pt: 'api dns endpoint host ignore link posthorn spam tls use webhook',
  nl: 'account api authenticator best code dns factor host later link open out passkey passkeys posthorn records spam test tls was webhook',
  pl: 'api dns link list operator posthorn spam test tls',
  sv: 'api dns person post posthorn session test tls webhook',
  tr: 'api dns posthorn spam test tls webhook',
  ar: 'api dns posthorn tls webhook',
  ja: 'api dns posthorn tls webhook',
};
const TRANSLATED = Object.keys(ALSO_ENGLISH) as (keyof typeof ALSO_ENGLISH)[];
const wordsIn = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(
    texts
      .join(' ')
      .toLowerCase()
      .match(/\p{L}{3,}/gu) ?? [],
  );
const ENGLISH = wordsIn(everythingIn('en'));

describe('the texts of emails and pages', () => {
  test.each(TRANSLATED)('have no word that was left in English: %s', (language) => {
    const left = [...wordsIn(everythingIn(language))].filter((word) => ENGLISH.has(word));
    expect(left.sort().join(' ')).toBe(ALSO_ENGLISH[language]);
  });

  test.each(TRANSLATED)('are all there, each another than in English: %s', (language) => {
    for (const [texts, english] of [
      [EMAILS[language], EMAILS.en],
      [WORDS[language], WORDS.en],
      [RECIPIENTS[language], RECIPIENTS.en],
    ] as const) {
      expect(texts.language).toBe(language);
      expect(Object.keys(texts).sort()).toEqual(Object.keys(english).sort());
    }
    const [own, english] = [everythingIn(language), everythingIn('en')];
    expect(own.every((text) => /\p{L}/u.test(text))).toBe(true);
    expect(own.length).toBe(english.length);
    const same = own.filter((text, index) => text === english[index]);
    // The names of things: a password in Italian, an administrator in German.
    expect(same.every((text) => ['Password', 'timeout', language].includes(text))).toBe(true);
  });

  test.each(PAGE_LANGUAGES)('hold what they are given, and count as the language does: %s', (language) => {
    for (const [index, words] of emailsIn(language, 'VALUE').entries()) {
      const all = textsOf(words).join('\n');
      expect([index, /\b(?:undefined|null|NaN)\b|\$\{|#/.test(all)]).toEqual([index, false]);
      expect([index, all.includes('VALUE')]).toEqual([index, true]);
    }
    const shown = (count: number) => count.toLocaleString(language);
    for (const count of COUNTS) {
      const { paragraphs } = EMAILS[language].campaignPaused({
        workspace: 'w',
        campaign: 'c',
        reason: 'canary',
        remaining: count,
      });
      // Arabic writes none, one and two as words.
      if (language !== 'ar' || count > 2) expect(paragraphs[1]).toContain(shown(count));
    }
  });
});

test('every language has the words of every form that it counts by', () => {
  const forms = Object.fromEntries(
    ['zero', 'one', 'two', 'few', 'many', 'other'].map((form) => [form, form]),
  ) as Record<'zero' | 'one' | 'two' | 'few' | 'many' | 'other', string>;
  for (const language of PAGE_LANGUAGES) {
    const seen = new Set(COUNTS.map((count) => counted(language, count, forms)));
    const rules = new Intl.PluralRules(language);
    const chosen = new Set(COUNTS.map((count) => rules.select(count)));
    expect([...seen].sort()).toEqual([...chosen].sort());
    // Whole numbers have no `other` in Polish: it is for fractions.
    const every = rules
      .resolvedOptions()
      .pluralCategories.filter((form) => language !== 'pl' || form !== 'other');
    expect([...chosen].sort()).toEqual(every.toSorted());
  }
  expect(counted('pl', 22, { one: '#a', few: '#b', many: '#c', other: '#d' })).toBe('22b');
  expect(counted('de', 1_200, { one: '# $&', other: '# $&' })).toBe('1.200 $&');
});

test('a language is that of the first tag that is spoken, or of the one it belongs to', () => {
  expect(['pt-BR', 'pt_br', 'DE-at', ' ja ', 'zh-Hant', 'constructor', ''].map(pageLanguageOf)).toEqual([
    'pt',
    'pt',
    'de',
    'ja',
    null,
    null,
    null,
  ] as never);
  expect(pageLanguageAmong(['ko', undefined, null, 'sv-FI', 'de'])).toBe('sv');
  expect(pageLanguageAmong(['ko'])).toBe('en');
});

const INVITED = {
  kind: 'invitation' as const,
  to: 'a@x.example',
  workspaceId: 'ws_1',
  role: 'admin' as const,
  language: null,
  url: 'https://mail.example.com/app/invitation#token=t',
  expiresAt: Date.UTC(2026, 10, 27, 3, 58),
};
const LOOK = { name: 'A & B (Co.)', logoUrl: null, colour: null };
const SENDING = { name: LOOK.name, publicUrl: 'https://mail.example.com' };

describe('an email of the service', () => {
  test.each(PAGE_LANGUAGES)('says its language and direction, and writes dates by it: %s', (language) => {
    const content = contentOf(INVITED, language, SENDING);
    const [html, text] = [htmlOf(content, LOOK), textOf(content)];
    const direction = language === 'ar' ? 'rtl' : 'ltr';
    expect(html).toContain(`<html lang="${language}" dir="${direction}">`);
    expect(html).toContain(`<body class="page" lang="${language}" dir="${direction}"`);
    expect(html).toContain(`text-align:${direction === 'rtl' ? 'right' : 'left'}`);
    const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(
      INVITED.expiresAt,
    );
    expect(text).toContain(date.slice(0, 10));
    expect(text).toContain(' UTC');
    expect(html).toContain('A &amp; B (Co.)');
    expect(html).toContain(`href="${INVITED.url}"`);
    expect(text).toContain(`\n${INVITED.url}\n`);
    expect(content.subject).toContain(LOOK.name);
    expect(content.subject).not.toMatch(/[\u2066-\u2069]/);
  });

  test('isolates names from a text that runs from right to left, and nothing else', () => {
    expect(textOf(contentOf(INVITED, 'ar', SENDING))).toContain('\u2068A & B (Co.)\u2069');
    expect(textOf(contentOf(INVITED, 'de', SENDING))).not.toMatch(/[\u2066-\u2069]/);
    expect(isolatedIn('he', 'x')).toBe('\u2068x\u2069');
  });

  test('tells the results of a webhook in its language, also one that an earlier version has stored', () => {
    const disabled = {
      kind: 'webhookDisabled' as const,
      workspaceId: 'ws_1',
      webhookId: 'wh_1',
      livemode: true,
      url: 'https://x.example',
      failures: 10,
      disabledAt: INVITED.expiresAt,
    };
    const answers = [
      { httpStatus: 0, error: 'timeout', count: 1_200 },
      { httpStatus: 500, error: null, count: 3 },
      { httpStatus: 0, error: 'a_newer_one', count: 1 },
    ];
    const shown = (given: string | typeof answers) =>
      contentOf({ ...disabled, answers: given }, 'de', SENDING).paragraphs.join('\n');
    expect(shown(answers)).toContain(
      'Letzte Ergebnisse: Zeitüberschreitung (1.200), HTTP 500 (3) und a_newer_one (1).',
    );
    expect(shown('timeout (7), HTTP 500 (3)')).toContain('Letzte Ergebnisse: timeout (7), HTTP 500 (3).');
    expect(shown('')).not.toContain('Ergebnisse');
    expect(shown([])).not.toContain('Ergebnisse');
  });
});
