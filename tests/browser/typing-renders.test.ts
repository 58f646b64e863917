import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { asMember, type Dashboard, openDashboard, ownerPage } from './dashboard.ts';
import { watchRenders } from './renders.ts';

// A key renders the field that it is typed into, and nothing of the page around it: a page that is rendered
// for each key keeps the next one waiting.

let dashboard: Dashboard;
let page: Page;

const WATCH = watchRenders(`
  const part = element?.closest('[role=status], section[aria-label=Preview]') ?? element;
  if (part?.shadowRoot?.querySelector('.cm-editor')) return 'editor';
  return part?.getAttribute('role') ?? part?.getAttribute('aria-label') ?? part?.textContent ?? '';
`);

beforeAll(async () => {
  dashboard = await openDashboard();
  page = await ownerPage(dashboard);
  await page.addInitScript(WATCH);
  const make = async (resource: string, body: object) => {
    const { data } = await asMember<{ id: string }>(page, 'POST', `live/${resource}`, body);
    return data.id;
  };
  const audienceId = await make('audiences', { name: 'All' });
  const html = '<p>Story</p>';
  const id = await make('campaigns', { name: 'News', audienceId, subject: 'News', html });
  await page.goto(`${dashboard.service.url}/app/live/campaigns/${id}`);
  // Answers that come later render the page as well.
  await page.waitForLoadState('networkidle');
  // So does the answer that a draft is kept, which on a busy machine comes between two letters. It never
  // comes here.
  await page.route(/\/drafts$/, (route) =>
    route.request().method() === 'PUT' ? undefined : route.continue(),
  );
});
afterAll(() => dashboard?.[Symbol.asyncDispose]());

/** The line that says when the text was kept, and the preview, follow once a person pauses. */
const FOLLOWING = new Set(['status', 'Preview']);

const unsaved = () => page.getByRole('status').filter({ hasText: 'Not saved' });

/** The texts that this browser keeps. The line that says so reads the same for the next one. */
const kept = (): Promise<string> =>
  page.evaluate(`new Promise((resolve) => {
    indexedDB.open('posthorn drafts', 1).onsuccess = ({ target: { result: opened } }) => {
      opened.transaction('drafts').objectStore('drafts').getAll().onsuccess = ({ target }) => {
        opened.close();
        resolve(JSON.stringify(target.result));
      };
    };
  })`);

/**
 * The parts that were rendered for those letters, after a first one that changes the page: it is unsaved from
 * then on. On a busy machine the text is kept in the browser between two letters, which renders the page:
 * then others are typed.
 */
async function renderedFor(letters: string): Promise<readonly string[]> {
  await page.keyboard.type('a');
  await unsaved().waitFor();
  const parts = await eventually('letters between which nothing is kept', async () => {
    const before = await kept();
    await page.evaluate('rendered.length = 0');
    await page.keyboard.type(letters);
    const noted = await eventually('the rendered parts', async () => {
      const noted = await page.evaluate<readonly string[]>('rendered');
      return noted.length >= letters.length ? noted : undefined;
    });
    return (await kept()) === before ? noted : undefined;
  });
  return [...new Set(parts)].filter((part) => !FOLLOWING.has(part)).toSorted();
}

test('a key in the subject of a campaign renders that field alone', async () => {
  await page.getByLabel('Subject', { exact: true }).click();
  expect(await renderedFor('bcdefgh')).toEqual(['Subject']);
});

test('a key in the source of a campaign renders its editor alone', async () => {
  await page.getByRole('textbox', { name: 'HTML source' }).focus();
  expect(await renderedFor('bcdefgh')).toEqual(['editor']);
});

test('a menu that was closed leaves no items that the next key would render', async () => {
  const item = page.getByRole('menuitem', { includeHidden: true }).first();
  await page.getByRole('button', { name: 'Insert variable: Subject' }).click();
  await item.waitFor();
  await page.keyboard.press('Escape');
  await item.waitFor({ state: 'detached' });
  expect(await page.getByRole('menuitem', { includeHidden: true }).count()).toBe(0);
});
