import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { LIVE_KEY } from '../support/service.ts';
import {
  ADA,
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

let dashboard: Dashboard;
let url: string;
let page: Page;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  client = createClient(url, LIVE_KEY);
  await client.post('/v1/domains', { name: 'kept.example' });
  await client.post('/v1/templates', {
    name: 'Your basket',
    format: 'emailmd',
    from: 'Shop <shop@kept.example>',
    subject: '{{ contact.firstName }}, it waits for you',
    markdown: '# Hello {{ contact.firstName }}',
  });
  page = await ownerPage(dashboard);
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor();
const card = (key: string) => page.locator(`[data-step="${key}"]`);
const cardWith = (key: string, text: string | RegExp) => card(key).filter({ hasText: text }).waitFor();

test('a flow is made of a recipe, and a step added, told and saved, by keyboard alone', async () => {
  await page.goto(`${url}/app/live/flows`);
  await page.getByText('No flows yet').waitFor();
  await page.keyboard.press('c');
  await typeInto(page, { Name: 'Left basket' });
  await pressOn(page.getByRole('radio', { name: /Abandoned cart/ }), 'Space');
  await press(page, 'Create flow');
  await heading('Left basket');
  // The arrows lead from card to card, and Enter opens one.
  await card('*').focus();
  await page.keyboard.press('ArrowDown');
  expect(await page.locator(':focus').getAttribute('data-step')).toBe('order');
  await page.keyboard.press('Enter');
  await page
    .getByRole('region', { name: 'Wait for an event' })
    .getByLabel('Event name')
    .and(page.locator(':focus'))
    .waitFor();
  await page.keyboard.press('Escape');
  await card('order').and(page.locator(':focus')).waitFor();
  await press(page, 'Add a step after morning');
  await pressOn(page.getByRole('menuitem', { name: /Send an email/ }));
  const panel = page.getByRole('region', { name: 'Send an email' });
  await panel.waitFor();
  // The card of an unfinished step shows the refusal of the service.
  await page.keyboard.press('Control+s');
  await cardWith('email', /./);
  await page.getByText(/problem prevents activation/).waitFor();
  await inspect(page, 'flow-unfinished');
  await panel.getByLabel('Template').selectOption({ label: 'Your basket' });
  await page.keyboard.press('Control+s');
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.getByText('Ready to activate').waitFor();
  await cardWith('email', 'Your basket');
  await inspect(page, 'flow-drawing');
});

test('ways are led elsewhere, steps taken away and brought back, and problems of the drawing told at once', async () => {
  await pressOn(card('order'));
  await page.getByLabel('Event occurred: next step').selectOption('');
  await cardWith('bought', 'No path leads from the first step to this step.');
  await page.keyboard.press('Escape');
  await card('bought').press('Delete');
  await card('bought').waitFor({ state: 'detached' });
  await pressOn(page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }));
  await card('bought').waitFor();
  await press(page, 'Discard');
  await page.getByText('Ready to activate').waitFor();
  // A way is drawn with the pointer, too.
  await pressOn(card('order'));
  await page.getByLabel('Event occurred: next step').selectOption('');
  await page.keyboard.press('Escape');
  const [from, to] = await Promise.all([
    page.locator('[data-id="order → event"] .react-flow__handle.source').boundingBox(),
    page.locator('[data-id="bought"] .react-flow__handle.target').boundingBox(),
  ]);
  if (!from || !to) throw new Error('The drawing has no handles.');
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 8 });
  await page.mouse.up();
  await card('bought').filter({ hasNotText: 'No edge leads' }).waitFor();
  await press(page, 'Discard');
});

test('a walk through it is played over the drawing, with the mail as it would be', async () => {
  await pressOn(page.getByRole('link', { name: 'Simulate' }));
  await page.getByText('No simulation yet').waitFor();
  await press(page, 'Run simulation');
  await page.getByText('Run completed').waitFor();
  await pressOn(page.getByRole('button', { name: /Ada, it waits for you/ }));
  await page.frameLocator('iframe[title="Email"]').getByRole('heading', { name: 'Hello Ada' }).waitFor();
  await page.locator('[data-step="email"][aria-current=step]').waitFor();
  await inspect(page, 'flow-tried');
  // A contact who orders within the hour gets no mail.
  await press(page, 'Add event');
  await page.getByLabel('Event 1', { exact: true }).fill('order.placed');
  await press(page, 'Run simulation');
  await page.getByText('Run exited early').waitFor();
  await page.getByRole('slider', { name: 'Step' }).focus();
  await page.keyboard.press('Home');
  await page.locator('[aria-current=step]').first().waitFor({ state: 'detached' });
  await press(page, 'Play');
  await page.locator('[data-step="bought"][aria-current=step]').waitFor();
});

test('it is activated, runs for a contact, and the run is shown over the drawing and ended', async () => {
  await press(page, 'Activate');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Activate flow' }));
  await waitForToast(page, 'Flow activated');
  await pressOn(page.getByRole('link', { name: 'Runs', exact: true }));
  await page.getByText('No runs yet').waitFor();
  await client.post('/v1/contacts', { email: ADA, firstName: 'Ada' });
  await client.post(`/v1/contacts/${ADA}/events`, { name: 'basket.filled' });
  // The page hears of it by itself.
  await page.getByRole('row', { name: new RegExp(ADA) }).waitFor();
  await inspect(page, 'flow-runs');
  await page.getByLabel('Status').selectOption('completed');
  await page.getByText('No matching runs').waitFor();
  await press(page, 'Clear');
  await pressOn(page.getByRole('link', { name: new RegExp(ADA) }));
  await heading(ADA);
  await page.locator('[data-step="order"][aria-current=step]').waitFor();
  await inspect(page, 'flow-run');
  await press(page, 'Cancel run');
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }));
  await page.getByRole('status').getByText('Cancelled').waitFor();
  const { body } = await client.get(`/v1/contacts/${ADA}`);
  await page.goto(`${url}/app/live/contacts/${body.data.id}`);
  const timeline = page.getByRole('list', { name: 'Timeline' });
  await timeline.getByText(/^Flow cancelled: /).waitFor();
  await timeline.getByText(/^Flow started: /).waitFor();
  await page.goBack();
  // The link back is also on the page that is still loading, which removes the one with the focus.
  await page.getByRole('status').getByText('Cancelled').waitFor();
});

test('a draft is shown beside the version that runs; it is paused, copied and deleted', async () => {
  await pressOn(page.getByRole('link', { name: 'Runs' }));
  await pressOn(page.getByRole('link', { name: 'Canvas' }));
  await page.getByRole('region', { name: 'Canvas', exact: true }).waitFor();
  await pressOn(card('morning'));
  await page.getByLabel('Time', { exact: true }).fill('11:30');
  await press(page, 'Save');
  await page.getByText('version 2 is a draft beside it', { exact: false }).waitFor();
  await pressOn(page.getByRole('link', { name: 'Versions' }));
  await page.getByRole('region', { name: 'Version 1' }).getByText('Running').waitFor();
  await page.getByRole('region', { name: 'Version 2' }).getByText('Changed').waitFor();
  await inspect(page, 'flow-versions');
  await press(page, 'Pause');
  await pressOn(page.getByRole('radio', { name: /^Hold/ }), 'Space');
  await press(page, 'Pause flow');
  await page.getByText('Flow paused').waitFor();
  await withoutDialog(page);
  await press(page, 'More actions');
  await pressOn(page.getByRole('menuitem', { name: 'Copy to test' }));
  await page.getByText('Flow copied to the test environment', { exact: false }).waitFor();
  await page.getByText('This template does not exist.').waitFor();
  await page.getByRole('button', { name: 'Activate' }).waitFor();
  await press(page, 'More actions');
  await pressOn(page.getByRole('menuitem', { name: 'Delete flow' }));
  await press(page, 'Delete flow');
  await page.getByText('No flows yet').waitFor();
  await page.goto(`${url}/app/live/flows`);
  await page.getByRole('row', { name: /Left basket/ }).waitFor();
  await inspect(page, 'flows');
  expect(dashboard.complaints).toEqual([]);
});

test('a flow is drawn whatever its steps and what they name are called', async () => {
  const { body } = await client.post('/v1/flows', {
    name: 'Own names',
    steps: [
      { key: 'constructor', type: 'delay', config: { amount: 1, unit: 'days' } },
      { key: 'toString', type: 'addToAudience', config: { audienceId: '__proto__' } },
    ],
    edges: [{ from: 'constructor', to: 'toString' }],
  });
  await page.goto(`${url}/app/live/flows/${body.data.id}`);
  await heading('Own names');
  await cardWith('constructor', '1 day');
  await cardWith('toString', '__proto__');
});

test('a lost connection is shown, and heals: what has come meanwhile is there', async () => {
  let isDown = false;
  const close: (() => Promise<void>)[] = [];
  await page.routeWebSocket(/\/changes/, (socket) => {
    if (isDown) return void socket.close();
    socket.connectToServer();
    close.push(() => socket.close());
  });
  await page.goto(`${url}/app/live/contacts`);
  await page.getByRole('row', { name: new RegExp(ADA) }).waitFor();
  await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
  isDown = true;
  for (const each of close) await each();
  await page.getByText('Connection lost', { exact: false }).waitFor();
  await client.post('/v1/contacts', { email: 'eve@acme.example' });
  isDown = false;
  await page.getByRole('row', { name: /eve@acme.example/ }).waitFor();
  await page.getByText('Connection lost', { exact: false }).waitFor({ state: 'detached' });
  expect(dashboard.complaints).toEqual([]);
});
