import { afterAll, beforeAll, expect, test } from 'bun:test';
import jsQR from 'jsqr';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import {
  asMember,
  type Dashboard,
  openDashboard,
  ownerPage,
  press,
  type Resource,
  waitForToast,
} from './dashboard.ts';

// Contacts and colours are chosen rather than typed; a telephone reads the code of an authenticator.

let dashboard: Dashboard;
let page: Page;
let url: string;
beforeAll(async () => {
  dashboard = await openDashboard();
  ({ url } = dashboard.service);
  page = await ownerPage(dashboard);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

test('a campaign is shown as for a contact that is found by address or name', async () => {
  const make = async (path: string, body: object) =>
    (await asMember<Resource>(page, 'POST', `test/${path}`, body)).data;
  const person = await make('contacts', { email: 'grace@people.test', firstName: 'Grace' });
  await make('contacts', { email: 'ada@people.test', firstName: 'Ada' });
  const audience = await make('audiences', { name: 'Readers' });
  await make(`audiences/${audience.id}/contacts`, { contactIds: [person.id] });
  const campaign = await make('campaigns', {
    name: 'News',
    audienceId: audience.id,
    from: 'a@acme.test',
    subject: 'Hello',
    html: '<p>Dear {{ contact.firstName }}</p><a href="{{ preferencesUrl }}">Choose</a>',
  });
  await page.goto(`${url}/app/test/campaigns/${campaign.id}`);
  const picker = page.getByLabel('Show it for this contact');
  const message = page.frameLocator('iframe[title="Message"]');
  const options = page.locator('datalist option');
  // A part of the name offers the address beside it; the browser writes the address that is chosen.
  await picker.focus();
  await page.keyboard.type('grac');
  await eventually('the address is offered', async () =>
    (await options.evaluateAll((all) => all.map((each) => each.getAttribute('value')))).join() ===
    'grace@people.test'
      ? true
      : undefined,
  );
  expect(await options.textContent()).toBe('Grace');
  await picker.fill('grace@people.test');
  await message.getByText('Dear Grace').waitFor();
  await picker.fill('ada@people.test');
  await page.keyboard.press('Tab');
  await message.getByText('Dear Ada').waitFor();
  await picker.fill('');
  await eventually('nobody in particular', async () =>
    (await message.locator('body').textContent())?.includes('Dear Ada') ? undefined : true,
  );
});

test('the code of an authenticator is read from the picture, in the dark as well', async () => {
  await page.goto(`${url}/app/test/account`);
  await press(page, 'Set up authenticator');
  const code = page.getByRole('img', { name: 'QR code of the secret' });
  const link = (await page.getByRole('link', { name: 'this link' }).getAttribute('href')) ?? '';
  const secret = (await page.locator('dialog pre').textContent())?.trim() ?? '';
  expect(link).toContain(`secret=${secret}`);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const png = (await code.screenshot()).toString('base64');
    const { data, width, height } = (await page.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob('${png}'), (each) => each.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
      canvas.drawImage(picture, 0, 0);
      const { data, width, height } = canvas.getImageData(0, 0, picture.width, picture.height);
      return { data: [...data], width, height };
    })()`)) as { data: number[]; width: number; height: number };
    expect([colorScheme, jsQR(Uint8ClampedArray.from(data), width, height)?.data]).toEqual([
      colorScheme,
      link,
    ]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('button', { name: 'Cancel' }).click();
});

test('a colour is chosen or typed, each shows the other, and it is saved', async () => {
  await page.goto(`${url}/app/test/settings`);
  await page.getByRole('link', { name: 'Brand' }).click();
  const [well, text] = [page.getByLabel('Choose the colour'), page.getByLabel('Colour', { exact: true })];
  // The dialog of the system is its own; what it hands over is the value of the well.
  await well.fill('#8b1a5c');
  expect(await text.inputValue()).toBe('#8b1a5c');
  await text.focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('#1D4ED8');
  await eventually('the well has it', async () => (await well.inputValue()) === '#1d4ed8' || undefined);
  await well.focus();
  expect(await well.evaluate((each) => each.matches(':focus-visible'))).toBe(true);
  await press(page, 'Save');
  await waitForToast(page, 'Brand saved');
  const { data } = await asMember<{ branding: { colour: string } }>(page, 'GET', 'live/workspace');
  expect(data.branding.colour.toLowerCase()).toBe('#1d4ed8');
  expect(dashboard.complaints).toEqual([]);
});
