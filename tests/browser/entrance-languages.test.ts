import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { directionOf, PAGE_LANGUAGES } from '../../src/platform/text/language.ts';
import { contentOf } from '../../src/sending/service-emails/contents.ts';
import { htmlOf } from '../../src/sending/service-emails/layout.ts';
import { WORDS } from '../../src/web/dashboard/web/application/entrances/words/all-words.ts';
import {
  ADA,
  asMember,
  type Dashboard,
  invite,
  openDashboard,
  ownerPage,
  PASSWORD,
  pressOn,
  waitForToast,
} from './dashboard.ts';
import { pictureOf, sidewaysOf, violations } from './looks.ts';

let dashboard: Dashboard;
let owner: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  owner = await ownerPage(dashboard);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const reader = (locale: string): Promise<Page> => dashboard.newcomer({ locale });
const invited = (email: string): Promise<string> => invite(dashboard, owner, email, 'member');

const stated = (page: Page) => page.evaluate('[document.documentElement.lang, document.documentElement.dir]');

/** At a desk and on a telephone, in both themes. */
async function look(page: Page, name: string): Promise<void> {
  for (const [width, height] of [
    [1_280, 800],
    [390, 844],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      expect([name, width, await sidewaysOf(page)]).toEqual([name, width, 0]);
      expect([name, width, colorScheme, await violations(page)]).toEqual([name, width, colorScheme, []]);
      await pictureOf(page, `languages/${name}-${width}-${colorScheme}`);
    }
}

test('an invitation in Arabic runs from right to left, and its refusals are in Arabic', async () => {
  const link = await invited('rana@people.example');
  const page = await reader('ar-EG');
  await page.goto(link);
  const { ar } = WORDS;
  await page.getByRole('button', { name: ar.accept }).waitFor();
  expect(await stated(page)).toEqual(['ar', 'rtl']);
  await page.getByRole('heading', { name: 'Acme' }).waitFor();
  await page.getByText('Ada Lovelace').waitFor();
  await look(page, 'invitation-ar');
  await page.getByLabel(ar.password, { exact: true }).fill('short');
  await pressOn(page.getByRole('button', { name: ar.accept }));
  await page.getByText(ar.problems.name).waitFor();
  await page.getByLabel(ar.name).fill('رنا');
  await pressOn(page.getByRole('button', { name: ar.accept }));
  await page.getByText(ar.problems.password).waitFor();
  await page.getByText(ar.form.strengths[0]).waitFor();
  await look(page, 'invitation-ar-refused');
  await page.getByLabel(ar.password, { exact: true }).fill(PASSWORD);
  await pressOn(page.getByRole('button', { name: ar.accept }));
  // The pages behind it are in English.
  await page.getByRole('heading', { name: 'Welcome, رنا' }).waitFor();
  expect(await stated(page)).toEqual(['en', 'ltr']);
  await page.context().clearCookies();
  await page.goto(link);
  await page.getByRole('heading', { name: ar.cannotAccept }).waitFor();
  await page.getByText(ar.problems.spent).waitFor();
  await page.context().close();
  expect(dashboard.complaints).toEqual([]);
});

test.each(PAGE_LANGUAGES)(
  'the pages behind emails are in the language of the browser: %s',
  async (language) => {
    const page = await reader(language);
    const words = WORDS[language];
    const direction = directionOf(language);
    await page.goto(`${dashboard.service.url}/app/reset#token=${'x'.repeat(43)}`);
    await page.getByRole('heading', { name: words.choosePassword }).waitFor();
    expect(await stated(page)).toEqual([language, direction]);
    await page.getByLabel(words.password, { exact: true }).fill(PASSWORD);
    await pressOn(page.getByRole('button', { name: words.setPassword }));
    await page.getByText(words.problems.spent).waitFor();
    await look(page, `reset-${language}`);
    await page.goto(`${dashboard.service.url}/app/invitation`);
    await page.getByRole('heading', { name: words.openAgain }).waitFor();
    await page.getByText(words.invitationNeedsLink).waitFor();
    await page.goto(`${dashboard.service.url}/app`);
    await page.getByRole('heading', { name: words.signInTitle }).waitFor();
    // A client whose passwords are wrong ten times has to wait, so that every second language is tried.
    if (PAGE_LANGUAGES.indexOf(language) % 2 === 0) {
      await page.getByLabel(words.email).fill(ADA);
      await page.getByLabel(words.password, { exact: true }).fill('wrong');
      await pressOn(page.getByRole('button', { name: words.signIn, exact: true }));
      await page.getByText(words.problems.credentials).waitFor();
    }
    await page.context().close();
    expect(dashboard.complaints).toEqual([]);
  },
);

test('a browser whose languages are not spoken here gets English', async () => {
  const page = await reader('ko');
  await page.goto(await invited('min@people.example'));
  await page.getByRole('button', { name: WORDS.en.accept }).waitFor();
  expect(await stated(page)).toEqual(['en', 'ltr']);
  await page.context().close();
});

test.each(['ar', 'de', 'ja'] as const)('an email of the service is readable in %s', async (language) => {
  const email = {
    kind: 'webhookDisabled' as const,
    workspaceId: 'ws_1',
    webhookId: 'wh_1',
    livemode: true,
    failures: 10,
    url: 'https://hooks.acme.example/in',
    disabledAt: Date.UTC(2026, 10, 20, 3, 58),
    answers: [
      { httpStatus: 0, error: 'timeout', count: 7 },
      { httpStatus: 500, error: null, count: 3 },
    ],
  };
  const content = contentOf(email, language, { name: 'Acme (Co.)', publicUrl: 'https://mail.example.com' });
  const page = await reader(language);
  await page.setContent(htmlOf(content, { name: 'Acme (Co.)', logoUrl: null, colour: null }));
  expect(await stated(page)).toEqual([language, directionOf(language)]);
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1_280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      expect(await sidewaysOf(page)).toBe(0);
      await pictureOf(page, `languages/email-${language}-${width}-${colorScheme}`);
    }
  await page.context().close();
});

test('a person chooses the language of their emails, and the workspace has one', async () => {
  const { url } = dashboard.service;
  await owner.goto(`${url}/app/test/settings`);
  await owner.getByLabel('Language of emails').selectOption({ label: 'français' });
  await pressOn(owner.getByRole('button', { name: 'Save', exact: true }).first());
  await waitForToast(owner, 'Settings saved');
  await owner.goto(`${url}/app/test/account`);
  const language = owner.getByRole('combobox', { name: 'Language' });
  await owner.getByText('Emails from this workspace are in français.').waitFor();
  await language.selectOption({ label: 'العربية' });
  await pressOn(owner.getByRole('button', { name: 'Save language' }));
  await owner.getByText('Emails from this workspace are in العربية.').waitFor();
  await look(owner, 'account');
  const { data } = await asMember<{ member: object }>(owner, 'GET', 'session');
  expect(data.member).toMatchObject({ language: 'ar', emailLanguage: 'ar' });
  await owner.goto(`${url}/app/live/members`);
  await pressOn(owner.getByRole('button', { name: 'Invite member' }));
  const dialog = owner.getByRole('dialog');
  await dialog.getByLabel('Email address').fill('zoe@people.example');
  await dialog.getByLabel('Language of emails').selectOption({ label: '日本語' });
  await look(owner, 'invite');
  await pressOn(dialog.getByRole('button', { name: 'Create invitation' }));
  await owner.getByText('that mail is in 日本語').waitFor();
  expect(dashboard.complaints).toEqual([]);
});
