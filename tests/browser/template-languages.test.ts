import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  asMember,
  type Dashboard,
  openDashboard,
  ownerPage,
  pressOn,
  typeInto,
  waitForToast,
  withoutDialog,
} from './dashboard.ts';
import { inspect } from './looks.ts';

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await ownerPage(dashboard);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

interface TranslatedTemplate {
  readonly id: string;
  readonly subject: string;
  readonly html: string;
  readonly translations: Readonly<Record<string, { readonly subject: string; readonly html: string }>>;
}

test('a language is added as a copy, translated beside its preview, saved, and removed', async () => {
  const { data: made } = await asMember<TranslatedTemplate>(page, 'POST', 'test/templates', {
    name: 'Welcome',
    subject: 'Welcome',
    html: '<p>Hello there</p>',
    language: 'en',
  });
  const stored = async () =>
    (await asMember<TranslatedTemplate>(page, 'GET', `test/templates/${made.id}`)).data;
  await page.goto(`${url}/app/test/templates/${made.id}`);
  const language = page.getByLabel('Language', { exact: true });
  await pressOn(page.getByRole('button', { name: 'Add language' }));
  await typeInto(page, { 'Language tag': 'ar' });
  await inspect(page, 'template-add-language');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add language' }));
  await withoutDialog(page);
  expect(await language.inputValue()).toBe('ar');
  const subject = page.getByLabel('Subject', { exact: true });
  expect(await subject.inputValue()).toBe('Welcome');
  await subject.fill('أهلا وسهلا');
  const source = page.getByRole('textbox', { name: 'HTML source' });
  await source.focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('<p>مرحبا بك</p>');
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('أهلا وسهلا').waitFor();
  await page.frameLocator('iframe').getByText('مرحبا بك').waitFor();
  await inspect(page, 'template-in-arabic');
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  await waitForToast(page, 'Saved and published');
  expect(await stored()).toMatchObject({
    subject: 'Welcome',
    html: '<p>Hello there</p>',
    translations: { ar: { subject: 'أهلا وسهلا', html: '<p>مرحبا بك</p>' } },
  });
  await language.selectOption('');
  expect(await subject.inputValue()).toBe('Welcome');
  await preview.getByText('Welcome', { exact: true }).waitFor();
  await language.selectOption('ar');
  await pressOn(page.getByRole('button', { name: 'Copy own content' }));
  expect(await subject.inputValue()).toBe('Welcome');
  await pressOn(page.getByRole('button', { name: 'Remove language' }));
  expect(await language.inputValue()).toBe('');
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  // The toast of the first save may still be there.
  await eventually('the language is gone', async () =>
    Object.keys((await stored()).translations).length === 0 ? true : undefined,
  );
});
