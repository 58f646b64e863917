import type { Page } from 'playwright-core';
import { asMember, type Dashboard, openDashboard, ownerPage, pressOn, waitForToast } from './dashboard.ts';

// A signed-in page for the tests of the visual editor, and what they do there again and again.

export let dashboard: Dashboard;
export let url: string;
export let page: Page;

/** Opens a service with a brand, and signs its owner in. */
export async function openVisual(): Promise<void> {
  dashboard = await openDashboard();
  url = dashboard.service.url;
  page = await ownerPage(dashboard);
  await asMember(page, 'POST', 'live/domains', { name: 'acme.test' });
  await asMember(page, 'PATCH', 'live/workspace', {
    branding: { address: '1 Main Street', colour: '#7c3aed' },
  });
}

export interface TemplateSource {
  readonly id: string;
  readonly mjml: string;
}

export const SOURCE = [
  '<mjml lang="en">',
  '  <mj-body background-color="#f4f4f5">',
  '    <!-- of 2019 -->',
  '    <mj-section background-color="#ffffff">',
  '      <mj-column>',
  '        <mj-text   font-size="20px">Hello {{ name }}</mj-text>',
  '        <mj-table><tr><td>kept</td></tr></mj-table>',
  '        <mj-button href="{{ url }}">Read more</mj-button>',
  '      </mj-column>',
  '    </mj-section>',
  '  </mj-body>',
  '</mjml>',
];

/** A picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
export const TEXT_ROW = '<mj-section><mj-column><mj-text>Two</mj-text></mj-column></mj-section>';
export const EMPTY = '<mjml lang="en">\n  <mj-body background-color="#f4f4f5">\n  </mj-body>\n</mjml>';

let environment = 'test';
export async function newTemplate(
  mjml: string,
  more: object = {},
  within = 'test',
  isShown = true,
): Promise<TemplateSource> {
  environment = within;
  const { data } = await asMember<TemplateSource>(page, 'POST', `${within}/templates`, {
    name: 'Visual',
    subject: 'News',
    format: 'mjml',
    mjml,
    ...more,
  });
  await page.goto(`${url}/app/${within}/templates/${data.id}`);
  if (isShown) await page.getByRole('region', { name: 'Canvas' }).waitFor();
  return data;
}
export const stored = async ({ id }: TemplateSource) =>
  (await asMember<TemplateSource>(page, 'GET', `${environment}/templates/${id}`)).data.mjml;
export const save = async () => {
  await pressOn(page.getByRole('button', { name: 'Save', exact: true }));
  await waitForToast(page, 'Saved and published');
};
export const block = (name: string | RegExp) => page.getByRole('group', { name });
export const message = () => page.frameLocator('iframe[title=Message]');
export const add = async (name: string) => {
  await page.getByRole('button', { name: 'Add block' }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
};
