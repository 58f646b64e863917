import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { confirmationPath, preferencesPath } from '../../src/audience/preferences/links.ts';
import { TEXTS } from '../../src/audience/preferences/texts/all-texts.ts';
import { withWayOut } from '../../src/mail/html/way-out.ts';
import { WAY_OUT_WORDS, wayOutWord } from '../../src/mail/html/way-out-words.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { directionOf, PAGE_LANGUAGES } from '../../src/platform/text/language.ts';
import { exitTarget, linkToken, readExitTarget, readLinkToken } from '../../src/sending/tracking/api.ts';
import { type RealService, startRealService } from './real-service.ts';

const SIGNER = createSigner('only-for-tests-only-for-tests-only');

let service: RealService;
beforeAll(async () => {
  service = await startRealService();
});
afterAll(() => service[Symbol.asyncDispose]());

const recipient = () => ({ workspaceId: service.workspaceId, livemode: true, key: 'ada@example.com' });
const opened = async (path: string, accepted = 'fr;q=0.4, de;q=0.9'): Promise<string> =>
  (await service.ask({ path, headers: { 'accept-language': accepted, accept: 'text/html' } })).text;
const leaving = () => ({ workspaceId: service.workspaceId, address: 'ada@example.com', list: null });
const EMAIL = { emailId: 'em_01m7xj1rwzprnwr10308attx', recipient: 0 };

describe('the pages of recipients', () => {
  test.each(PAGE_LANGUAGES)('are in the language of their email: %s', async (language) => {
    const texts = TEXTS[language];
    const element = `<html lang="${language}" dir="${directionOf(language)}">`;
    const preferences = await opened(preferencesPath(SIGNER, { ...recipient(), language }));
    expect(preferences).toContain(element);
    expect(preferences).toContain(`<h1>${texts.preferences}</h1>`);
    const target = exitTarget({ ...leaving(), language });
    const link = linkToken('unsubscribe', { ...EMAIL, target }, SIGNER);
    const unsubscribe = await opened(`/t/u/${link}`);
    expect(unsubscribe).toContain(element);
    expect(unsubscribe).toContain(Bun.escapeHTML(texts.askUnsubscribe).replaceAll('&#x27;', '&#39;'));
  });

  test('are in that of the browser, or in English, where the email has none that is spoken here', async () => {
    const plain = preferencesPath(SIGNER, recipient());
    expect(await opened(plain)).toContain('<html lang="de" dir="ltr">');
    expect(await opened(plain, 'ar-EG')).toContain('<html lang="ar" dir="rtl">');
    expect(await opened(plain, 'ko, zh;q=0.5')).toContain('<html lang="en"');
    const inKorean = preferencesPath(SIGNER, { ...recipient(), language: 'ko' });
    expect(await opened(inKorean)).toContain('<html lang="de"');
    const brazilian = preferencesPath(SIGNER, { ...recipient(), language: 'pt-BR' });
    expect(await opened(brazilian)).toContain('<html lang="pt"');
  });

  test('a link whose language was changed is no link', async () => {
    const path = confirmationPath(SIGNER, { ...recipient(), audienceId: 'aud_0', language: 'de' });
    const [content = '', mac = ''] = path.slice(3).split('.');
    const changed = Buffer.from(Buffer.from(content, 'base64url').toString().replace('"de"', '"fr"'));
    expect(await opened(`/c/${changed.toString('base64url')}.${mac}`)).toContain(TEXTS.de.badLink);
  });
});

test('a link to unsubscribe keeps its language, and one without stays what it was', () => {
  const list = { audienceId: 'aud_1', campaignId: 'cmp_1' };
  const plain = { workspaceId: 'ws_1', address: 'a.de_fr.b@example.com', list: null, language: null };
  expect(exitTarget(plain)).toBe('ws_1 a.de_fr.b@example.com');
  expect(exitTarget({ ...plain, list })).toBe('ws_1 a.de_fr.b@example.com aud_1 cmp_1');
  for (const language of [null, 'de', 'zh-Hant-TW', 'es-419'])
    for (const leaves of [null, list]) {
      const full = { ...plain, list: leaves, language };
      const link = { ...EMAIL, target: exitTarget(full), links: 2 };
      const read = readLinkToken('unsubscribe', linkToken('unsubscribe', link, SIGNER), SIGNER);
      expect(read).toEqual(link);
      expect(readExitTarget(read?.target ?? '')).toEqual(full);
    }
});

test('an older link, with its language behind the recipient, is still one to unsubscribe in it', async () => {
  const list = { audienceId: 'aud_1', campaignId: 'cmp_1' };
  for (const [marks, leaves, links] of [
    ['0_de', leaving(), {}],
    ['1-2_zh-Hant-TW', { ...leaving(), list }, { links: 2 }],
  ] as const) {
    const [recipient = '', language = null] = marks.split('_');
    const target = exitTarget({ ...leaves, language: null });
    const content = Buffer.from(`${EMAIL.emailId.slice(3)}.${marks}.${target}`).toString('base64url');
    const token = `${content}.${SIGNER.sign('link unsubscribe', content).toString('base64url')}`;
    expect(readLinkToken('unsubscribe', token, SIGNER)).toEqual({
      ...EMAIL,
      recipient: Number(recipient[0]),
      target: exitTarget({ ...leaves, language }),
      ...links,
    });
    if (language === 'de') expect(await opened(`/t/u/${token}`, 'fr')).toContain('<html lang="de"');
  }
});

test('after a roll-back to a version without languages, a link with one still unsubscribes', () => {
  // That version reads tokens by this pattern, and the first four words of the target.
  const pattern = /^([0-9a-hjkmnp-tv-z]{24})\.(\d{1,2})(?:-(\d))?\.(.*)$/s;
  for (const [list, words] of [
    [null, ['ws_1', 'a@example.com', '', '']],
    [{ audienceId: 'aud_1', campaignId: 'cmp_1' }, ['ws_1', 'a@example.com', 'aud_1', 'cmp_1']],
  ] as const) {
    const leaves = { workspaceId: 'ws_1', address: 'a@example.com', list, language: 'pt-BR' };
    const token = linkToken('unsubscribe', { ...EMAIL, target: exitTarget(leaves) }, SIGNER);
    const content = Buffer.from(token.split('.')[0] ?? '', 'base64url').toString();
    expect(pattern.exec(content)?.[4]?.split(' ').slice(0, 4)).toEqual([...words]);
  }
});

test('the link that a campaign gets where it has none is in the language of the email', () => {
  const parts = { html: '<p>x</p>', text: 'x' };
  for (const language of PAGE_LANGUAGES) {
    const { html, text } = withWayOut(parts, language);
    expect(html).toContain(`>${WAY_OUT_WORDS[language]}</a>`);
    expect(text).toBe(`x\n\n${WAY_OUT_WORDS[language]}: {{unsubscribeUrl}}\n`);
  }
  expect([wayOutWord('pt-BR'), wayOutWord('ko'), wayOutWord(null), wayOutWord('constructor')]).toEqual([
    WAY_OUT_WORDS.pt,
    'Unsubscribe',
    'Unsubscribe',
    'Unsubscribe',
  ]);
});

test('every text of every language is there, is another than in English, and holds what it is given', () => {
  const shape = Object.keys(TEXTS.en);
  for (const [language, texts] of Object.entries(TEXTS)) {
    expect(texts.language).toBe(language as typeof texts.language);
    expect(Object.keys(texts)).toEqual(shape);
    expect(texts.mailText('LIST', 'SENDER', 'URL')).toMatch(
      /^(?=.*LIST)(?=.*SENDER)[\s\S]*\nURL\n[\s\S]*\n$/,
    );
    for (const made of [texts.askConfirm('LIST'), texts.confirmedHint('LIST'), texts.mailSubject('LIST')])
      expect(made).toContain('LIST');
    const same = Object.entries(texts).filter(
      ([name, text]) => language !== 'en' && typeof text === 'string' && text === Reflect.get(TEXTS.en, name),
    );
    expect(same).toEqual([]);
  }
});
