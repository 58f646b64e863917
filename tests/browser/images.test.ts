import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import {
  asMember,
  type Dashboard,
  openDashboard,
  press,
  pressOn,
  signUp,
  typeInto,
  waitForToast,
  withoutDialog,
} from './dashboard.ts';
import { inspect } from './looks.ts';

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await dashboard.newcomer();
  await signUp(dashboard, page);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

test('images: uploaded, inserted into a template, and deleted only after a warning', async () => {
  await page.goto(`${url}/app/test/images`);
  await page.getByRole('heading', { name: 'No images yet' }).waitFor();
  await inspect(page, 'images-empty');
  await page.getByLabel('Upload images').setInputFiles([
    { name: 'office.png', mimeType: 'image/png', buffer: PNG },
    { name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no picture') },
  ]);
  await page.getByText('notes.png: Must be a PNG, a JPEG, a GIF or a WebP.').waitFor();
  const card = page.getByRole('button', { name: /office\.png/ });
  await card.waitFor();
  await inspect(page, 'images');
  const made = await asMember<{ id: string }>(page, 'POST', 'test/templates', {
    ...{ name: 'Tour', subject: 'Hi', format: 'emailmd', markdown: 'Look:' },
  });
  await page.goto(`${url}/app/test/templates/${made.data.id}`);
  await page.getByRole('textbox', { name: 'Markdown source' }).focus();
  await page.keyboard.press('Control+End');
  await pressOn(page.getByRole('button', { name: 'Insert image' }));
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'office.png' }));
  await typeInto(page, { 'Alternative text': 'Our office' });
  await inspect(page, 'insert-image');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Insert', exact: true }));
  await withoutDialog(page);
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  await waitForToast(page, 'Saved and published');
  const { data } = await asMember<{ markdown: string }>(page, 'GET', `test/templates/${made.data.id}`);
  expect(data.markdown).toMatch(/^Look:!\[Our office\]\(http\S+\/images\/[0-9a-f]{64}\.png\)$/);
  await page.goto(`${url}/app/test/images`);
  await pressOn(card);
  await page.getByRole('dialog').getByRole('link', { name: 'Tour' }).waitFor();
  await inspect(page, 'image');
  await press(page, 'Delete image');
  await page.getByText('show a gap in its place').waitFor();
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Delete image' }));
  await page.getByRole('heading', { name: 'No images yet' }).waitFor();
});
