import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import {
  asMember,
  type Dashboard,
  openDashboard,
  ownerPage,
  press,
  pressOn,
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
  page = await ownerPage(dashboard);
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
    name: 'Tour',
    subject: 'Hi',
    format: 'emailmd',
    markdown: 'Look:',
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

test('images: a wide one is offered to screens in two sizes', async () => {
  const wide = await page.evaluate<string>(`(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [1300, 130];
    const drawing = canvas.getContext('2d');
    const noise = drawing.createImageData(1300, 130);
    let random = 1;
    noise.data.forEach((_, at) => {
      random = Math.imul(random, 1664525) + 1013904223;
      noise.data[at] = at % 4 === 3 ? 255 : random >>> 24;
    });
    drawing.putImageData(noise, 0, 0);
    return canvas.toDataURL('image/png').split(',')[1];
  })()`);
  await page.goto(`${url}/app/test/images`);
  await page
    .getByLabel('Upload images')
    .setInputFiles([{ name: 'wide.png', mimeType: 'image/png', buffer: Buffer.from(wide, 'base64') }]);
  await page.getByRole('button', { name: /wide\.png/ }).waitFor();
  const made = await asMember<{ id: string }>(page, 'POST', 'test/templates', {
    name: 'Wide',
    subject: 'Hi',
    html: '<p>Look</p>',
  });
  await page.goto(`${url}/app/test/templates/${made.data.id}`);
  await page.getByRole('textbox', { name: 'HTML source' }).focus();
  await page.keyboard.press('Control+End');
  await pressOn(page.getByRole('button', { name: 'Insert image' }));
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'wide.png' }));
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Insert', exact: true }));
  await withoutDialog(page);
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  await waitForToast(page, 'Saved and published');
  const { data } = await asMember<{ html: string }>(page, 'GET', `test/templates/${made.data.id}`);
  const [, large, small, again] =
    /<img src="(\S+)" srcset="(\S+) 1x, (\S+) 2x" alt="" width="600"/.exec(data.html) ?? [];
  expect(again).toBe(large ?? '');
  const { data: images } = await asMember<{ url: string; filename: string; width: number }[]>(
    page,
    'GET',
    'test/assets',
  );
  expect(images.map(({ filename, width }) => `${filename} ${width}`)).toEqual([
    'wide-600.png 600',
    'wide.png 1300',
  ]);
  expect(images.map((image) => image.url)).toEqual([small ?? '', large ?? '']);
});

test('images: none is inserted once the dialog was left, whatever is uploaded by then', async () => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  await page.route('**/test/assets?*', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    asked.resolve();
    await answered.promise;
    await route.continue();
  });
  await pressOn(page.getByRole('button', { name: 'Insert image' }));
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'wide.png', exact: true }));
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Insert', exact: true }));
  await asked.promise;
  await page.keyboard.press('Escape');
  await withoutDialog(page);
  const stored = page.waitForResponse((response) => response.request().method() === 'POST');
  answered.resolve();
  await (await stored).finished();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const source = await page.getByRole('textbox', { name: 'HTML source' }).textContent();
  expect(source?.split('<img').length).toBe(2);
  await page.unrouteAll();
});
