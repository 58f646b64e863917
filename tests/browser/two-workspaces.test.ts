import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { type Dashboard, openDashboard, ownerPage, pressOn } from './dashboard.ts';

let dashboard: Dashboard;
let page: Page;
let url: string;
beforeAll(async () => {
  dashboard = await openDashboard();
  ({ url } = dashboard.service);
  page = await ownerPage(dashboard);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test('two tabs show two workspaces at once, and a link names the workspace that it leads to', async () => {
  const there = await page.context().newPage();
  await page.goto(`${url}/app/live/contacts`);
  await page.getByRole('heading', { name: 'Contacts', exact: true }).waitFor();
  // An address of former versions leads to the workspace that is open.
  const [, first = ''] = /\/app\/(ws_\w+)\/live\/contacts$/.exec(page.url()) ?? [];
  expect(first).toStartWith('ws_');
  const made = await page.evaluate(`fetch('/app/api/workspaces', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Globex"}',
  }).then((answer) => answer.json())`);
  const { id: second } = (made as { data: { id: string } }).data;
  await there.goto(`${url}/app/${second}/live/contacts`);
  await there.getByRole('button', { name: 'Workspace Globex' }).waitFor();
  for (const [id, email] of [
    [first, 'a@acme.example'],
    [second, 'g@globex.example'],
  ])
    await page.evaluate(`fetch('/app/api/live/contacts', {
      method: 'POST', body: '{"email":"${email}"}',
      headers: { 'content-type': 'application/json', 'x-svc-workspace': '${id}' },
    })`);
  await there.getByRole('link', { name: 'g@globex.example' }).waitFor();
  await page.getByRole('link', { name: 'a@acme.example' }).waitFor();
  expect(await there.getByRole('link', { name: 'a@acme.example' }).count()).toBe(0);
  // The tab stays where it is, whatever another one has opened since.
  await page.reload();
  await page.getByRole('link', { name: 'a@acme.example' }).waitFor();
  expect(page.url()).toBe(`${url}/app/${first}/live/contacts`);
  await there.goto(`${url}/app/ws_000000000000000000000001/live/contacts`);
  await there.getByText('There is no such workspace, or you are not a member of it.').waitFor();
  await pressOn(there.getByRole('link', { name: 'Open your workspace' }));
  await there.waitForURL(`**/app/${first}/live`);
  await there.close();
  expect(dashboard.complaints).toEqual([]);
});
