import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { createClient } from '../support/client.ts';
import { LIVE_KEY } from '../support/service.ts';
import { type Dashboard, openDashboard, ownerPage, pressOn, typeInto, waitForToast } from './dashboard.ts';
import { inspect } from './looks.ts';

let dashboard: Dashboard;
let url: string;
let page: Page;

beforeAll(async () => {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await ownerPage(dashboard);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test('a mailbox is added, says why it cannot be read, and is paused and deleted', async () => {
  await page.goto(`${url}/app/live/mailboxes`);
  await page.getByText('No live mailboxes yet').waitFor();
  await inspect(page, 'mailboxes-empty');
  await page.keyboard.press('c');
  await typeInto(page, { Server: '127.0.0.1' });
  await typeInto(page, { Port: '1', User: 'support@acme.example', Password: 'secret' });
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add mailbox' }));
  await waitForToast(page, 'Mailbox added');
  await page.getByText('The server refuses connections.', { exact: false }).waitFor();
  await inspect(page, 'mailboxes');
  const row = page.getByRole('row', { name: /support@acme.example/ });
  await pressOn(row.getByRole('button', { name: 'Pause' }));
  await waitForToast(page, 'Mailbox paused');
  const read = async () => (await createClient(url, LIVE_KEY).get('/v1/mailboxes')).body.data;
  expect(await read()).toMatchObject([{ status: 'paused', port: 1 }]);
  await pressOn(row.getByRole('button', { name: 'Edit' }));
  await typeInto(page, { Folder: 'Tickets' });
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Save mailbox' }));
  await waitForToast(page, 'Mailbox saved');
  expect(await read()).toMatchObject([{ folder: 'Tickets' }]);
  await pressOn(row.getByRole('button', { name: 'Delete' }));
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Delete mailbox' }));
  await waitForToast(page, 'Mailbox deleted');
  expect(await read()).toEqual([]);
});
