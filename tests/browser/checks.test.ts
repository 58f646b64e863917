import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { asMember, type Dashboard, openDashboard, ownerPage, pressOn, waitForToast } from './dashboard.ts';
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

const HTML = `<p>Hello {{ name }},</p>\n<p style="color: #111">The shop has opened.</p>\n\n<video></video>\n<a href="http://127.0.0.1:9/tour">Look</a>`;

test('check: of a template, whose line leads to its place in the editor', async () => {
  const layout = await asMember<{ id: string }>(page, 'POST', 'test/templates', {
    name: 'Frame',
    alias: 'frame',
    kind: 'layout',
    html: '<main>\n<svg></svg>{{ content }}</main>',
  });
  const { data } = await asMember<{ id: string }>(page, 'POST', 'test/templates', {
    name: 'Opening',
    subject: 'We have opened',
    html: HTML,
    layoutId: layout.data.id,
  });
  await page.goto(`${url}/app/test/templates/${data.id}`);
  const panel = page.getByRole('region', { name: 'Check' });
  await pressOn(panel.getByRole('button', { name: 'Check the message' }));
  await panel.getByText('takes no connection').waitFor();
  await panel.getByText('In frame: Outlook for Windows and Gmail leave out <svg>').waitFor();
  await inspect(page, 'template-check');
  const dropped = panel.getByRole('listitem').filter({ hasText: 'leave out <video>' });
  await pressOn(dropped.getByRole('button', { name: 'line 4' }));
  const selected = () =>
    page.evaluate(
      `[...document.querySelectorAll('*')].map(({ shadowRoot }) => shadowRoot?.querySelector('.cm-activeLine')?.textContent).find(Boolean)`,
    );
  await eventually('the line is selected', async () =>
    (await selected()) === '<video></video>' ? true : undefined,
  );
  expect(
    await panel.getByRole('listitem').filter({ hasText: 'In frame' }).getByRole('link').getAttribute('href'),
  ).toContain(`/templates/${layout.data.id}`);
  expect(dashboard.complaints).toEqual([]);
});

test('check: of a campaign, beside its preview', async () => {
  const audience = await asMember<{ id: string }>(page, 'POST', 'live/audiences', { name: 'News' });
  await asMember(page, 'POST', 'live/contacts', { email: 'ada@acme.example' });
  const { data } = await asMember<{ id: string }>(page, 'POST', 'live/campaigns', {
    name: 'July',
    audienceId: audience.data.id,
    from: 'a@acme.example',
    subject: 'Hello',
    html: HTML.replace('{{ name }}', 'you'),
  });
  await page.goto(`${url}/app/live/campaigns/${data.id}`);
  const panel = page.getByRole('region', { name: 'Check' });
  await pressOn(panel.getByRole('button', { name: 'Check the message' }));
  await panel.getByText('takes no connection').waitFor();
  await panel.getByRole('button', { name: 'line 4' }).waitFor();
  await inspect(page, 'campaign-check');
  expect(dashboard.complaints).toEqual([]);
});

test('check: of a language, in the editor of a template and of a campaign', async () => {
  const html = '<p>Hello</p><a href="{{ unsubscribeUrl }}">Leave</a>';
  const german = '<p>Hallo</p>\n<video></video><a href="{{ unsubscribeUrl }}">Abmelden</a>';
  const { data: template } = await asMember<{ id: string }>(page, 'POST', 'live/templates', {
    name: 'Two languages',
    subject: 'Hello',
    language: 'en',
    html,
    translations: { de: { subject: 'Hallo', html: german } },
  });
  await page.goto(`${url}/app/live/templates/${template.id}`);
  const panel = page.getByRole('region', { name: 'Check' });
  const dropped = panel.getByText('leave out <video>');
  await pressOn(panel.getByRole('button', { name: 'Check the message' }));
  await panel.getByText('finding').waitFor();
  expect(await dropped.count()).toBe(0);
  await page.getByRole('region', { name: 'Editor' }).getByLabel('Language').selectOption('de');
  await pressOn(panel.getByRole('button', { name: 'Check the message' }));
  await dropped.waitFor();
  const audience = await asMember<{ id: string }>(page, 'POST', 'live/audiences', { name: 'Two languages' });
  const { data } = await asMember<{ id: string }>(page, 'POST', 'live/campaigns', {
    name: 'August',
    audienceId: audience.data.id,
    from: 'a@acme.example',
    templateId: template.id,
  });
  await page.goto(`${url}/app/live/campaigns/${data.id}`);
  await panel.getByLabel('Language').selectOption('de');
  await pressOn(panel.getByRole('button', { name: 'Check the message' }));
  await dropped.waitFor();
  await inspect(page, 'campaign-check-in-a-language');
  await pressOn(
    panel
      .getByRole('listitem')
      .filter({ hasText: 'leave out <video>' })
      .getByRole('link', { name: 'line 2' }),
  );
  const editor = page.getByRole('region', { name: 'Editor' });
  await editor.getByRole('textbox', { name: 'Subject' }).waitFor();
  expect(await editor.getByLabel('Language').inputValue()).toBe('de');
  expect(await editor.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Hallo');
  await page.goto(`${url}/app/live/campaigns/${data.id}`);
  await page.getByRole('textbox', { name: 'Language' }).fill('xx-YY');
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  await page.getByText('Must be a language tag').waitFor();
  await page.getByRole('textbox', { name: 'Language' }).fill('de');
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  await waitForToast(page, 'Saved');
  const saved = await asMember<{ language: string }>(page, 'GET', `live/campaigns/${data.id}`);
  expect(saved.data.language).toBe('de');
  expect(await panel.getByLabel('Language').count()).toBe(0);
  expect(dashboard.complaints).toEqual([]);
});
